# sunder_room(NAME room PUBLIC targets... PRIVATE targets... [PCH headers...])
# A room is the folder sunder/<room> with its sub-folders: all their .cpp files make the static library `sunder_<room>` with the
# alias `sunder::<room>`. Headers are found as "sunder/<room>/[<concept>/]<name>.h" both in the source tree and when installed. Rooms
# that name no headers to precompile share those of `geometry`.
function(sunder_room)
  cmake_parse_arguments(ROOM "" "NAME" "PUBLIC;PRIVATE;PCH" ${ARGN})
  set(target sunder_${ROOM_NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${ROOM_NAME}/*.cpp)
  add_library(${target} STATIC ${sources})
  add_library(sunder::${ROOM_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ROOM_NAME})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC ${ROOM_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:sunder_options> $<BUILD_INTERFACE:sunder_warnings> ${ROOM_PRIVATE})
  if(ROOM_PCH)
    target_precompile_headers(${target} PRIVATE ${ROOM_PCH})
  else()
    target_precompile_headers(${target} REUSE_FROM sunder_geometry)
  endif()
  sunder_unity(${target})
  sunder_kernels(${target})
  set_property(GLOBAL APPEND PROPERTY SUNDER_ROOMS ${ROOM_NAME})
endfunction()

# sunder_kernels(target)
# Checks of every pointer's value and alignment make vector kernels of thousands of loads and stores take minutes to
# compile. They are left out of sources that Highway compiles once per vector target; the address sanitizer stays.
function(sunder_kernels target)
  if(NOT SUNDER_SANITIZE MATCHES "undefined")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} kernel REGEX "hwy/foreach_target.h")
    if(kernel)
      set_source_files_properties(${source} PROPERTIES
        COMPILE_OPTIONS -fno-sanitize=null,alignment,object-size,pointer-overflow)
    endif()
  endforeach()
endfunction()
