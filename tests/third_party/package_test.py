# SPDX-License-Identifier: Apache-2.0
"""The library without Bazel: installed and used through CMake and pkg-config,
and as Debian packages."""
import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from tests import junit_main

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
EXAMPLE = os.path.join(ROOT, "docs", "example")
LIBRARY = "libgloo_ubt_transport"
RANKS = 2
STATIC = """
add_executable(static allreduce.cc)
target_link_libraries(static gloo_ubt::static)
"""


def run(*command, **variables):
    return subprocess.run(
        command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **variables},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, check=False)


def package(*argv):
    return run(os.path.join(ROOT, "third_party", "package"), *argv)


class TestCase(unittest.TestCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def succeed(self, *command, **variables):
        done = run(*command, **variables)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def example(self, *, more="", **variables):
        """Builds docs/example and `more` with CMake. Returns the folder."""
        source = os.path.join(self.folder(), "source")
        os.mkdir(source)
        for name in "CMakeLists.txt", "allreduce.cc":
            shutil.copy(os.path.join(EXAMPLE, name), source)
        with open(os.path.join(source, "CMakeLists.txt"), "a",
                  encoding="utf-8") as file:
            file.write(more)
        build = os.path.join(os.path.dirname(source), "build")
        self.succeed("cmake", "-S", source, "-B", build, **variables)
        self.succeed("cmake", "--build", build, "--parallel", "2")
        return build

    def works(self, program, **variables):
        """Runs two ranks of the example."""
        meeting = self.folder()
        ranks = [subprocess.Popen(
            ["timeout", "50", program, str(rank), str(RANKS), meeting],
            env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True) for rank in range(RANKS)]
        for rank in ranks:
            out, err = rank.communicate()
            self.assertEqual(0, rank.returncode, err)
            self.assertEqual(30, len(out.splitlines()), out)


class Prefix(TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = os.path.join(folder.name, "with space")
        done = package("--prefix", cls.prefix, "--libraries",
                       os.path.join(ROOT, "third_party", "packaging"))
        assert done.returncode == 0, done.stderr

    def test_cmake_finds_it(self):
        build = self.example(more=STATIC, CMAKE_PREFIX_PATH=self.prefix)
        for name in "allreduce", "static":
            self.works(os.path.join(build, name))
        self.assertNotIn(LIBRARY, self.succeed(
            "ldd", os.path.join(build, "static")))

    def test_another_version_is_refused(self):
        source = self.folder()
        with open(os.path.join(source, "CMakeLists.txt"), "w",
                  encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.18)\n"
                       "project(other CXX)\n"
                       "find_package(gloo_ubt 9.0 REQUIRED)\n")
        done = run("cmake", "-S", source, "-B", os.path.join(source, "build"),
                   CMAKE_PREFIX_PATH=self.prefix)
        self.assertNotEqual(0, done.returncode)
        self.assertIn('requested version "9.0"', done.stderr)

    def test_pkg_config_finds_it(self):
        lib = os.path.join(self.prefix, "lib")
        # pkg-config writes a space in a path as a shell reads it.
        program = os.path.join(self.folder(), "allreduce")
        self.succeed(
            "sh", "-c", 'eval g++ -std=c++17 "$1" -o "$2" '
            '"$(pkg-config --cflags --libs gloo_ubt)"', "sh",
            os.path.join(EXAMPLE, "allreduce.cc"), program,
            PKG_CONFIG_PATH=os.path.join(lib, "pkgconfig"))
        self.works(program, LD_LIBRARY_PATH=lib)

    def test_each_public_header_stands_alone(self):
        include = os.path.join(self.prefix, "include", "gloo_ubt")
        for header in ("algorithms/allreduce_options.h",
                       "algorithms/hierarchical_bounded_transpose_allreduce.h",
                       "rendezvous/ubt_redis_store.h"):
            self.succeed("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror",
                         "-fsyntax-only", "-I", include, "-include", header,
                         "-x", "c++", "/dev/null")


class Debian(TestCase):
    def test_packages_install_and_serve_cmake(self):
        folder = self.folder()
        done = package("--deb", folder, "--libraries",
                       os.path.join(ROOT, "third_party", "packaging"))
        self.assertEqual(0, done.returncode, done.stderr)
        packages = done.stdout.splitlines()
        self.assertEqual(sorted(packages),
                         sorted(glob.glob(os.path.join(folder, "*.deb"))))
        planned = self.succeed("apt-get", "install", "--simulate", *packages)
        for name in "libgloo-ubt0", "libgloo-ubt-dev":
            self.assertIn(f"Inst {name} ", planned)
        needed = self.succeed("dpkg-deb", "--field", packages[0], "Depends")
        for library in "libgloo0", "libhwy1", "libsodium23", "libuv1":
            self.assertIn(library, needed)
        root = self.folder()
        for name in packages:
            self.succeed("dpkg-deb", "--extract", name, root)
        build = self.example(CMAKE_PREFIX_PATH=os.path.join(root, "usr"))
        self.works(os.path.join(build, "allreduce"))


class Mistakes(TestCase):
    def test_name_culprit_and_remedy(self):
        for argv, text in (([], "--prefix DIR or --deb DIR: which?"),
                           (["--deb"], "--deb: what?"),
                           (["--debb", "x"], "there is no '--debb'"),
                           (["--deb", "/tmp", "--prefix", "/tmp"],
                            "not both"),
                           (["--deb", "/tmp", "--libraries", "/nowhere"],
                            f"no {LIBRARY}.so.0 in '/nowhere'"),
                           (["--prefix", "/proc/x"], "cannot make the folder "
                            "'/proc/x'")):
            done = package(*argv)
            self.assertEqual(2, done.returncode, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    junit_main.main()
