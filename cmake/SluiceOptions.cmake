# Compiler settings that every target shares, and the functions that declare targets.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(SLUICE_TESTS "Build the tests" ON)
option(SLUICE_BENCH "Build the benchmarks" OFF)
option(SLUICE_FUZZ "Build the libFuzzer targets (needs clang)" OFF)
set(SLUICE_TEST_LABELS "" CACHE STRING "Declare only tests with one of these labels; empty: all")
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
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlaps in `"text" + std::string` that are not there (GCC bug 105651).
  add_compile_options(-Wno-restrict)
endif()
# Paths of the machine that builds stay out of the binary.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage of the libraries, which guides the fuzzer
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # librdkafka's macros are statement expressions.
  add_compile_options(-Wno-gnu-statement-expression)
endif()
if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 takes values that sanitized code moves for uninitialised (std::regex, boost::optional); the release build,
    # where the warning works, keeps it.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SLUICE_SANITIZE MATCHES "undefined")
    # Clang 14 cannot place this check's data before a coroutine ("difference across sections").
    add_compile_options(-fno-sanitize=function)
  endif()
  if(SLUICE_SANITIZE MATCHES "thread")
    # Boost and libstdc++ fence in a few reference counts; TSan cannot see fences, GCC says so.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# sluice_library(NAME SOURCES… LIBS…): the library of one folder, sluice::NAME. Built where a program of the build needs
# it: a fuzz build needs not all of them.
function(sluice_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;PRIVATE_LIBS" ${ARGN})
  add_library(sluice_${name} STATIC EXCLUDE_FROM_ALL ${ARG_SOURCES})
  add_library(sluice::${name} ALIAS sluice_${name})
  target_include_directories(sluice_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(sluice_${name} PUBLIC ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
endfunction()

# Sets `result` to true if a test with these labels belongs to this build (SLUICE_TEST_LABELS). So a tsan build holds the
# concurrent tests only, and a release build does not compile the unit tests a third time.
function(sluice_wants_test result)
  set(wanted FALSE)
  if(NOT SLUICE_TEST_LABELS)
    set(wanted TRUE)
  endif()
  foreach(label ${ARGN})
    if(label IN_LIST SLUICE_TEST_LABELS)
      set(wanted TRUE)
    endif()
  endforeach()
  set(${result} ${wanted} PARENT_SCOPE)
endfunction()

# Tests of several builds run in one ctest (scripts/test), so the sanitizer is part of their names.
set(SLUICE_TEST_PREFIX "")
if(SLUICE_SANITIZE MATCHES "address")
  set(SLUICE_TEST_PREFIX "asan.")
elseif(SLUICE_SANITIZE MATCHES "thread")
  set(SLUICE_TEST_PREFIX "tsan.")
endif()

# What every test finds in its environment: the folder of shared data (absent: the case reports itself as skipped), the
# checkout, this build folder. Sanitizers end the process at the first finding and say where.
set(SLUICE_TEST_ENVIRONMENT
  "SLUICE_SHARED=${CMAKE_SOURCE_DIR}/../shared" "SLUICE_SOURCE=${CMAKE_SOURCE_DIR}"
  "SLUICE_BINARY=${CMAKE_BINARY_DIR}"
  "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1"
  "UBSAN_OPTIONS=print_stacktrace=1" "TSAN_OPTIONS=second_deadlock_stack=1")

function(sluice_set_test_properties name timeout)
  if(NOT timeout)
    set(timeout 120)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARGN}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77
    ENVIRONMENT "${SLUICE_TEST_ENVIRONMENT}")
endfunction()

# sluice_test(NAME SOURCES… LIBS… LABELS…): one doctest binary, one ctest entry.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  sluice_wants_test(wanted ${ARG_LABELS})
  if(NOT wanted)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} sluice_test_support)
  add_test(NAME ${SLUICE_TEST_PREFIX}${name} COMMAND ${name})
  sluice_set_test_properties(${SLUICE_TEST_PREFIX}${name} "${ARG_TIMEOUT}" ${ARG_LABELS})
endfunction()

# sluice_script_test(NAME COMMAND… LABELS… [TIMEOUT s] [SERIAL]): a program that is no doctest binary. Exit 0 is passed,
# 77 is skipped. SERIAL: never beside another test, for what measures time.
function(sluice_script_test name)
  cmake_parse_arguments(ARG "SERIAL" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
  sluice_wants_test(wanted ${ARG_LABELS})
  if(NOT wanted)
    return()
  endif()
  add_test(NAME ${SLUICE_TEST_PREFIX}${name} COMMAND ${ARG_COMMAND})
  sluice_set_test_properties(${SLUICE_TEST_PREFIX}${name} "${ARG_TIMEOUT}" ${ARG_LABELS})
  if(ARG_SERIAL)
    set_tests_properties(${SLUICE_TEST_PREFIX}${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

# sluice_fuzz_target(NAME SOURCES… LIBS…): a libFuzzer program, only in a build with SLUICE_FUZZ, and the test that runs it
# for SLUICE_FUZZ_SECONDS from the seeds in tests/fuzz/corpus/NAME. What it finds grows in the build folder.
set(SLUICE_FUZZ_SECONDS 30 CACHE STRING "How long the test of one libFuzzer target runs")
function(sluice_fuzz_target name)
  if(NOT SLUICE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  set(seeds ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set(grown ${CMAKE_BINARY_DIR}/corpus/${name})
  file(MAKE_DIRECTORY ${grown})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  math(EXPR timeout "${SLUICE_FUZZ_SECONDS} + 60")
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${SLUICE_FUZZ_SECONDS} -timeout=10 -rss_limit_mb=2048
    -verbosity=0 -print_final_stats=1 -artifact_prefix=${CMAKE_BINARY_DIR}/ ${grown} ${seeds})
  sluice_set_test_properties(${name} ${timeout} fuzz)
endfunction()
