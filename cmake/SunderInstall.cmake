# Installation, and the package that find_package(sunder) finds. cmake/sunder-config.cmake.in names the dependencies.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY SUNDER_ROOMS)
set(targets sunder_sunder)
foreach(room IN LISTS rooms)
  list(APPEND targets sunder_${room})
  install(DIRECTORY sunder/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sunder FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS ${targets} EXPORT sunder-targets)
install(FILES sunder/world/scene/scene.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sunder)
if(TARGET sunder_command)
  install(TARGETS sunder_command)
endif()
if(TARGET sunder-bench)
  install(TARGETS sunder-bench OPTIONAL)  # the quick tests do not build it
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sunder)
install(EXPORT sunder-targets NAMESPACE sunder:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sunder-config.cmake.in ${CMAKE_BINARY_DIR}/sunder-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sunder-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sunder-config.cmake ${CMAKE_BINARY_DIR}/sunder-config-version.cmake
  DESTINATION ${package_dir})
