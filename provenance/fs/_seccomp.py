"""A filter of system calls: what a confined process needs never is refused by the kernel.

Guarantees: on x86-64 and arm64 each call of `DENIED` gives EPERM, for this process and all that it
starts, for good; so does every call by another architecture's numbers. `clone3` gives ENOSYS, so
that the C library takes `clone`, whose flags can be judged. Elsewhere there is no filter, and
`forbid_calls` says so. Numbers are those of `asm/unistd.h`, structures those of `linux/filter.h`
and `linux/seccomp.h`.

Example:
    >>> "socket" in DENIED["x86_64"], "read" in DENIED["x86_64"]
    (True, False)
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["DENIED", "forbid_calls", "program_for"]


def _numbers(text: str) -> Mapping[str, int]:
    return {name: int(number) for name, _, number in (word.partition("=") for word in text.split())}


_X86_64 = _numbers(
    """
    execve=59 execveat=322 ptrace=101 process_vm_readv=310 process_vm_writev=311
    process_madvise=440 process_mrelease=448 kcmp=312 pidfd_open=434 pidfd_getfd=438
    pidfd_send_signal=424 rt_sigqueueinfo=129 rt_tgsigqueueinfo=297 sched_setaffinity=203
    sched_setscheduler=144 sched_setparam=142 sched_setattr=314 setpriority=141 ioprio_set=251
    migrate_pages=256 move_pages=279 setsid=112 setpgid=109 setns=308 unshare=272 mount=165
    umount2=166 pivot_root=155 chroot=161 move_mount=429 open_tree=428 open_tree_attr=467
    fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 add_key=248
    request_key=249 keyctl=250 shmget=29 shmat=30 shmctl=31 msgget=68 msgsnd=69 msgrcv=70
    msgctl=71 semget=64 semop=65 semtimedop=220 semctl=66 mq_open=240 mq_unlink=241 socket=41
    socketpair=53 connect=42 bind=49 listen=50 accept=43 accept4=288 sendto=44 sendmsg=46
    sendmmsg=307 recvmmsg=299 bpf=321 perf_event_open=298 userfaultfd=323 io_uring_setup=425
    io_uring_enter=426 io_uring_register=427 open_by_handle_at=304 name_to_handle_at=303
    fanotify_init=300 quotactl=179 quotactl_fd=443 acct=163 swapon=167 swapoff=168 reboot=169
    sethostname=170 setdomainname=171 init_module=175 finit_module=313 delete_module=176
    kexec_load=246 kexec_file_load=320 syslog=103 settimeofday=164 clock_settime=227
    adjtimex=159 clock_adjtime=305 ioperm=173 iopl=172 personality=135 vhangup=153
    modify_ldt=154 landlock_create_ruleset=444 seccomp=317 chmod=90 fchmod=91 fchmodat=268
    fchmodat2=452 chown=92 fchown=93 lchown=94 fchownat=260 utime=132 utimes=235 futimesat=261
    utimensat=280 setxattr=188 lsetxattr=189 fsetxattr=190 setxattrat=463 removexattr=197
    lremovexattr=198 fremovexattr=199 removexattrat=466 file_setattr=469
    """
)
_AARCH64 = _numbers(
    """
    execve=221 execveat=281 ptrace=117 process_vm_readv=270 process_vm_writev=271
    process_madvise=440 process_mrelease=448 kcmp=272 pidfd_open=434 pidfd_getfd=438
    pidfd_send_signal=424 rt_sigqueueinfo=138 rt_tgsigqueueinfo=240 sched_setaffinity=122
    sched_setscheduler=119 sched_setparam=118 sched_setattr=274 setpriority=140 ioprio_set=30
    migrate_pages=238 move_pages=239 setsid=157 setpgid=154 setns=268 unshare=97 mount=40
    umount2=39 pivot_root=41 chroot=51 move_mount=429 open_tree=428 open_tree_attr=467
    fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 add_key=217
    request_key=218 keyctl=219 shmget=194 shmat=196 shmctl=195 msgget=186 msgsnd=189 msgrcv=188
    msgctl=187 semget=190 semop=193 semtimedop=192 semctl=191 mq_open=180 mq_unlink=181
    socket=198 socketpair=199 connect=203 bind=200 listen=201 accept=202 accept4=242 sendto=206
    sendmsg=211 sendmmsg=269 recvmmsg=243 bpf=280 perf_event_open=241 userfaultfd=282
    io_uring_setup=425 io_uring_enter=426 io_uring_register=427 open_by_handle_at=265
    name_to_handle_at=264 fanotify_init=262 quotactl=60 quotactl_fd=443 acct=89 swapon=224
    swapoff=225 reboot=142 sethostname=161 setdomainname=162 init_module=105 finit_module=273
    delete_module=106 kexec_load=104 kexec_file_load=294 syslog=116 settimeofday=170
    clock_settime=112 adjtimex=171 clock_adjtime=266 personality=92 vhangup=58
    landlock_create_ruleset=444 seccomp=277 fchmod=52 fchmodat=53 fchmodat2=452 fchown=55
    fchownat=54 utimensat=88 setxattr=5 lsetxattr=6 fsetxattr=7 setxattrat=463 removexattr=14
    lremovexattr=15 fremovexattr=16 removexattrat=466 file_setattr=469
    """
)

# Programs, other processes, their priorities and limits, sessions, mounts, keys, sockets, System V
# and POSIX queues, the kernel itself; modes, owners, times and attributes of files.
DENIED: Mapping[str, Mapping[str, int]] = MappingProxyType({"x86_64": _X86_64, "aarch64": _AARCH64})
# The audit word of each architecture, and its numbers of the calls whose arguments are judged.
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_CLONE = {"x86_64": 56, "aarch64": 220}
_IOCTL = {"x86_64": 16, "aarch64": 29}
_KILL = {"x86_64": 62, "aarch64": 129}
_CLONE3 = 435
_OTHER_NUMBERS = 0x4000_0000  # x32, and nothing that there is elsewhere

_NEW_NAMESPACES = 0x7E02_0000 | 0x80  # CLONE_NEW*
# FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, TIOCSTI
_REQUESTS = (0x4008_6602, 0x401C_5820, 0x5412)
_NEGATIVE = 0x8000_0000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000
_EPERM, _ENOSYS = 1, 38

_SET_SECCOMP, _FILTER = 22, 2  # prctl


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


_DENY = _step(_RETURN, _ERROR | _EPERM)
_PASS = _step(_RETURN, _ALLOW)


def program_for(machine: str) -> bytes:
    """Build the filter for an architecture, 8 bytes a step."""
    steps = [
        _step(_LOAD, _ARCHITECTURE_AT),
        _step(_EQUAL, _ARCHITECTURE[machine], 1),
        _DENY,
        _step(_LOAD, _NUMBER_AT),
        _step(_AT_LEAST, _OTHER_NUMBERS, 0, 1),
        _DENY,
    ]
    for number in DENIED[machine].values():
        steps += [_step(_EQUAL, number, 0, 1), _DENY]
    steps += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERROR | _ENOSYS)]
    # The kernel takes the low halves of these arguments alone, and so do we.
    judged = (
        # Limits of this process itself (0) may be set.
        (_PRLIMIT, [_step(_LOAD, _FIRST_AT), _step(_EQUAL, 0, 1), _DENY]),
        (_CLONE, [_step(_LOAD, _FIRST_AT), _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _DENY]),
        # All processes at once, or a group of another.
        (_KILL, [_step(_LOAD, _FIRST_AT), _step(_AT_LEAST, _NEGATIVE, 0, 1), _DENY]),
        (
            _IOCTL,
            [
                _step(_LOAD, _SECOND_AT),
                *(
                    piece
                    for request in _REQUESTS
                    for piece in (_step(_EQUAL, request, 0, 1), _DENY)
                ),
            ],
        ),
    )
    for numbers, block in judged:
        steps += [_step(_EQUAL, numbers[machine], 0, len(block) + 1), *block, _PASS]
    return b"".join([*steps, _PASS])


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def forbid_calls() -> bool:
    """Put the filter into force for this thread and all that it starts; False: there is none here.

    Privileges must have been given up before.

    Raises:
        OSError: the kernel refused, with its number.
    """
    machine = platform.machine()
    if sys.platform != "linux" or machine not in DENIED or sys.maxsize < 1 << 32:
        return False
    steps = program_for(machine)
    held = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.cast(held, ctypes.c_void_p))
    library: Any = ctypes.CDLL(None, use_errno=True)
    zero = ctypes.c_ulong(0)
    if library.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(program), zero, zero):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return True
