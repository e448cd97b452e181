# sunder_unity(target)
# With SUNDER_UNITY, the target's sources are compiled ten at a time, which reads their headers once and instantiates what
# they share once. Sources that Highway compiles once per vector target stay alone, as do those with options of their own.
function(sunder_unity target)
  if(NOT SUNDER_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  # GCC takes the sources of a batch for headers, in which types of anonymous namespaces would be a fault.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} kernel REGEX "hwy/foreach_target.h")
    if(kernel)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
