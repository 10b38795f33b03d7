# What `cmake --install` puts where: the library with its headers and CMake package, the program, the manual pages and
# the completion. Users of the library then write:
#
#   find_package(kvtool 0.1 REQUIRED)
#   target_link_libraries(mine PRIVATE kvtool::kvtool)
include(CMakePackageConfigHelpers)

set(KVTOOL_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/kvtool")

install(TARGETS libkvtool EXPORT kvtoolTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kvtool" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")

install(EXPORT kvtoolTargets NAMESPACE kvtool:: DESTINATION "${KVTOOL_INSTALL_CMAKEDIR}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/kvtoolConfig.cmake.in" "${PROJECT_BINARY_DIR}/kvtoolConfig.cmake"
                              INSTALL_DESTINATION "${KVTOOL_INSTALL_CMAKEDIR}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvtoolConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvtoolConfig.cmake" "${PROJECT_BINARY_DIR}/kvtoolConfigVersion.cmake"
        DESTINATION "${KVTOOL_INSTALL_CMAKEDIR}")

if(TARGET kvtool)
  install(TARGETS kvtool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

foreach(section 1 5)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.${section}")
  install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

# Each shell finds the script by its name in a folder of its own.
if(TARGET kvtool AND NOT CMAKE_CROSSCOMPILING)
  set(completions "${PROJECT_BINARY_DIR}/completions")
  file(MAKE_DIRECTORY "${completions}")
  foreach(shell bash zsh fish)
    add_custom_command(OUTPUT "${completions}/${shell}" COMMAND kvtool completion ${shell} > "${completions}/${shell}"
                       DEPENDS kvtool)
    list(APPEND scripts "${completions}/${shell}")
  endforeach()
  add_custom_target(completions ALL DEPENDS ${scripts})
  install(FILES "${completions}/bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME kvtool)
  install(FILES "${completions}/zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _kvtool)
  install(FILES "${completions}/fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
          RENAME kvtool.fish)
endif()
