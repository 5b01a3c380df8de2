# Run by each build of sluice (cmake -DSOURCE=… -DBASE=0.1.0 -DOUT=… -P): writes the definition of core::kVersion, and
# leaves the file alone when it would not change. One text for --version, metrics and packages, so in the order of
# Debian's versions:
#   0.1.0                        at the tag v0.1.0
#   0.1.0+git5.79794b8           five commits after it
#   0.1.0~git166.79794b8         where there is no tag: BASE, the number of commits
#   0.1.0~git20261130.79794b8    from `git archive`: the day of the commit, as it cannot be counted there
#   0.1.0~local                  neither
# and .dirty behind it where files differ from the commit. -DGIVEN=… is taken as it is.

function(Git result)
  set(${result} "" PARENT_SCOPE)
  if(NOT GIT)
    find_program(GIT git)
  endif()
  if(NOT GIT)
    return()
  endif()
  # The checkout may belong to another user than the one who builds, root in a container.
  execute_process(COMMAND ${GIT} -c "safe.directory=*" -C ${SOURCE} ${ARGN} OUTPUT_VARIABLE out ERROR_QUIET
                  RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(code EQUAL 0)
    set(${result} "${out}" PARENT_SCOPE)
  endif()
endfunction()

# v0.1.0, v0.1.0-5-g79794b8, 79794b8: what `git describe --always` says.
function(FromDescription description commits result)
  if(description MATCHES "^v([0-9].*)-([0-9]+)-g([0-9a-f]+)$")
    set(version "${CMAKE_MATCH_1}+git${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  elseif(description MATCHES "^v([0-9].*)$")
    set(version "${CMAKE_MATCH_1}")
  else()
    set(version "${BASE}~git${commits}.${description}")
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

set(version "${GIVEN}")
Git(top rev-parse --show-toplevel)
if(top)
  file(REAL_PATH ${top} top)
  file(REAL_PATH ${SOURCE} source)
endif()
if(NOT version AND top AND top STREQUAL source)
  Git(description describe --tags --always --match "v[0-9]*" --dirty=.dirty)
  Git(commits rev-list --count HEAD)
  string(REGEX REPLACE "\\.dirty$" "" clean "${description}")
  FromDescription("${clean}" "${commits}" version)
  if(NOT clean STREQUAL description)
    string(APPEND version .dirty)
  endif()
endif()
if(NOT version)
  # git archive has filled this in.
  file(STRINGS ${SOURCE}/cmake/archive-version.txt archived LIMIT_COUNT 1)
  if(archived MATCHES "^([0-9-]+) ([0-9a-f]+) ?(.*)$")
    string(REPLACE "-" "" day ${CMAKE_MATCH_1})
    set(description "${CMAKE_MATCH_3}")
    if(NOT description)
      set(description ${CMAKE_MATCH_2})
    endif()
    FromDescription("${description}" ${day} version)
  else()
    set(version "${BASE}~local")
  endif()
endif()

set(text "#include \"core/version.h\"\n\nnamespace sluice::core {\n\nconstinit const std::string_view kVersion = \"")
string(APPEND text "${version}\";\n\n}  // namespace sluice::core\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUT} "${text}")
endif()
