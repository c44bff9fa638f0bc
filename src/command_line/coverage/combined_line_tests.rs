//! Lines that run the tests together with other work.

use super::tests::{Files, check};

#[test]
fn a_build_in_the_same_line_prints_no_summary_of_tests() {
    const NODE: Files = &[(
        "package.json",
        r#"{"scripts":{"build":"node bin","test":"node --test","check":"node check","all":"node --test && node bin","own":"./t"}}"#,
    )];
    const BUILT: &str = "~> dist/a.js (241 b)\n";
    const AFTER: &str = "~> dist/a.js (241 b)\n# tests 1\n# pass 1\n# fail 0\n# skipped 0\n# duration_ms 9\n";
    const BEFORE: &str = "# tests 1\n# pass 1\n# fail 0\n# skipped 0\n# duration_ms 9\n~> dist/a.js (241 b)\n";
    const FAILED: &str = "~> dist/a.js (241 b)\n# tests 1\n# pass 0\n# fail 1\n# skipped 0\n# duration_ms 9\n";
    check(
        &[
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run build; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm t; npm run build", BEFORE),
            (NODE, "npm test", "npm test 2>&1 | tail -9; npm run build 2>&1 | tail -3", BEFORE),
        ],
        true,
    );
    check(
        &[
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", FAILED),
            (NODE, "npm test", "npm run build && npm test 2>&1 | tail -9", BUILT),
            (NODE, "npm test", "npm run build; npm test 2>&1 | tail -9", BUILT),
            // These may print a summary of the same runner.
            (NODE, "npm test", "npm run check; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run all; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm test", "npm run unknown; npm test 2>&1 | tail -9", AFTER),
            (NODE, "npm run own", "npm run build; npm run own 2>&1 | tail -9", AFTER),
        ],
        false,
    );
}

#[test]
fn a_folder_that_is_configured_as_declared_needs_no_other_configuration() {
    const RUN: &str =
        "cmake -S . -B build -DA_TESTS=ON && cmake --build build && ctest --test-dir build --no-tests=error";
    const LISTS: (&str, &str) = ("CMakeLists.txt", "project(a)\nconfigure_file(a.in a.h)\nenable_testing()\n");
    const CACHE: &str = "# This is the CMakeCache file.\nA_TESTS:BOOL=ON\nCMAKE_HOME_DIRECTORY:INTERNAL=/work/repo\n";
    const SAME: Files = &[LISTS, ("build/CMakeCache.txt", CACHE), ("build/x.cmake", "file(GLOB a *.c)")];
    const NONE: Files = &[LISTS];
    const OFF: Files =
        &[LISTS, ("build/CMakeCache.txt", "A_TESTS:BOOL=OFF\nCMAKE_HOME_DIRECTORY:INTERNAL=/work/repo\n")];
    const UNSET: Files = &[LISTS, ("build/CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/work/repo\n")];
    const OTHER: Files =
        &[LISTS, ("build/CMakeCache.txt", "A_TESTS:BOOL=ON\nCMAKE_HOME_DIRECTORY:INTERNAL=/work/repo2\n")];
    const LISTED: Files = &[
        LISTS,
        ("build/CMakeCache.txt", CACHE),
        ("tests/CMakeLists.txt", "file(GLOB tests *.c)\nadd_executable(t ${tests})\n"),
    ];
    const VERSIONED: Files = &[
        LISTS,
        ("build/CMakeCache.txt", CACHE),
        ("cmake/a.cmake", "file(STRINGS \"${CMAKE_CURRENT_SOURCE_DIR}/a.h\" V REGEX \"#define V ([0-9]+)\")\n"),
    ];
    const SOURCES: Files =
        &[LISTS, ("build/CMakeCache.txt", CACHE), ("cmake/a.cmake", "file(STRINGS sources.txt SOURCES)\n")];
    const OK: &str = "100% tests passed, 0 tests failed out of 6\n";
    check(
        &[
            (SAME, RUN, "cmake --build build && ctest --test-dir build", OK),
            (VERSIONED, RUN, "cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "cmake -S . -B build && cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "cmake --build build -j2 && ctest --test-dir build --output-on-failure", OK),
            (SAME, RUN, "cmake --build build && cd build && ctest --output-on-failure", OK),
            (SAME, RUN, "git status --short; cmake --build build && ctest --test-dir build 2>&1 | tail -3", OK),
            (SAME, RUN, "cmake -S . -B build -DA_TESTS=ON && cmake --build build && ctest --test-dir build", OK),
            (NONE, RUN, "cmake -B build -DA_TESTS=ON -S . && cmake --build build && ctest --test-dir build", OK),
        ],
        true,
    );
    check(
        &[
            (NONE, RUN, "cmake --build build && ctest --test-dir build", OK),
            (OFF, RUN, "cmake --build build && ctest --test-dir build", OK),
            (UNSET, RUN, "cmake --build build && ctest --test-dir build", OK),
            (OTHER, RUN, "cmake --build build && ctest --test-dir build", OK),
            (LISTED, RUN, "cmake --build build && ctest --test-dir build", OK),
            (SOURCES, RUN, "cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "ctest --test-dir build", OK),
            (SAME, RUN, "cmake --build build 2>&1 | tail -3 && ctest --test-dir build", OK),
            (SAME, RUN, "cmake --build build", OK),
            (SAME, RUN, "cmake --build build --target a && ctest --test-dir build", OK),
            (SAME, RUN, "cmake --build build && ctest --test-dir build -R one", OK),
            (SAME, RUN, "cmake --build other && ctest --test-dir other", OK),
            (SAME, "cmake -S . -B build -DA_TESTS=ON --preset x && cmake --build build", "cmake --build build", OK),
            // Something may have changed the configuration again.
            (SAME, RUN, "cmake -S . -B build -DA_TESTS=OFF && cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "rm -rf build; cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "./prepare; cmake --build build && ctest --test-dir build", OK),
            (SAME, RUN, "sed -i s/ON/OFF/ build/CMakeCache.txt; cmake --build build && ctest --test-dir build", OK),
            // The declared command only configures.
            (SAME, "cmake -S . -B build -DA_TESTS=ON", "ctest --test-dir build", OK),
        ],
        false,
    );
}

#[test]
fn a_test_with_meson_builds_and_configures_what_is_configured() {
    const RUN: &str = "meson setup --reconfigure build && meson test -C build";
    const DEFINED: (&str, &str) = ("meson.build", "project('a', 'c')\n");
    const INFO: &str = r#"{"directories": {"source": "/work/repo", "build": "/work/repo/build"}, "error": false}"#;
    const BESIDE: &str = r#"{"directories": {"source": "/work/repo2", "build": "/work/repo/build"}, "error": false}"#;
    const OTHER: Files = &[DEFINED, ("build/meson-info/meson-info.json", BESIDE)];
    const SAME: Files = &[DEFINED, ("build/meson-info/meson-info.json", INFO)];
    const NONE: Files = &[DEFINED];
    const LISTED: Files = &[
        ("meson.build", "project('a', 'c')\nt = run_command('ls', 'tests')\n"),
        ("build/meson-info/meson-info.json", INFO),
    ];
    const OK: &str = "Ok:                 3\nFail:               0\n";
    check(
        &[
            (SAME, RUN, "meson test -C build", OK),
            (SAME, RUN, "meson compile -C build && meson test -C build -v", OK),
            (SAME, RUN, "ninja -C build && meson test -C build", OK),
            (SAME, RUN, "meson setup build --reconfigure && meson test -C build", OK),
        ],
        true,
    );
    check(
        &[
            (NONE, RUN, "meson test -C build", OK),
            (LISTED, RUN, "meson test -C build", OK),
            (OTHER, RUN, "meson test -C build", OK),
            (SAME, RUN, "meson test -C build --suite a", OK),
            (SAME, RUN, "meson compile -C build", OK),
            (SAME, RUN, "meson configure build -Dtests=false && meson test -C build", OK),
            (SAME, RUN, "make prepare; meson test -C build", OK),
            (SAME, "meson setup build -Dtests=true && meson test -C build", "meson test -C build", OK),
        ],
        false,
    );
}
