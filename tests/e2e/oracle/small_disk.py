"""A tmpfs that can be made full: it becomes as large as what lies on it. Needs root."""
import os
import subprocess

from daemon import Failure

TRIES = 100  # what lies there may grow in between


def can_mount():
    return os.geteuid() == 0


def mount(path, size):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], check=True)


def unmount(path):
    subprocess.run(["umount", "-l", str(path)], check=False)


def resize(path, size):
    done = subprocess.run(["mount", "-o", f"remount,size={size}", str(path)], stderr=subprocess.PIPE, text=True,
                          check=False)
    return done.returncode == 0


def fill(path):
    for _ in range(TRIES):
        state = os.statvfs(path)
        if resize(path, (state.f_blocks - state.f_bfree) * state.f_frsize):
            return
    raise Failure(f"{path} cannot be made full")


def empty(path, size):
    """Room as it had."""
    if not resize(path, size):
        raise Failure(f"{path} cannot be given {size}")
