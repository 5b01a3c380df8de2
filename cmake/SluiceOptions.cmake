# Compiler settings that every target shares, and the functions that declare targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(SLUICE_TESTS "Build the tests" ON)
option(SLUICE_BENCH "Build the benchmarks" OFF)
option(SLUICE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers for every target, as -fsanitize takes them")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SLUICE_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
                    -Wimplicit-fallthrough -Wswitch)
# Paths of the machine that builds stay out of the binary.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE MATCHES "thread")
    # Boost and libstdc++ fence in a few reference counts; TSan cannot see fences, GCC says so.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# sluice_library(NAME SOURCES… LIBS…): the library of one folder, sluice::NAME.
function(sluice_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;PRIVATE_LIBS" ${ARGN})
  add_library(sluice_${name} STATIC ${ARG_SOURCES})
  add_library(sluice::${name} ALIAS sluice_${name})
  target_include_directories(sluice_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(sluice_${name} PUBLIC ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
endfunction()

# sluice_test(NAME SOURCES… LIBS… LABELS…): one doctest binary, one ctest entry. Its cases may read SLUICE_SHARED
# (the folder of shared data, absent: the case reports itself as skipped) and SLUICE_SOURCE.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} sluice_test_support)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "SLUICE_SHARED=${CMAKE_SOURCE_DIR}/../shared;SLUICE_SOURCE=${CMAKE_SOURCE_DIR};SLUICE_BINARY=${CMAKE_BINARY_DIR}")
endfunction()
