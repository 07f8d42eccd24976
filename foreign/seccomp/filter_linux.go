package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets of what the kernel shows a filter (struct seccomp_data), on machines with the low byte first.
const (
	callAt = 0
	archAt = 4
	argsAt = 16
)

// x32 marks the calls of an interface that amd64 has besides its own.
const x32 = 0x40000000

// architectures are those with calls that a filter can name: a program that uses the calls of another one, such
// as a 32-bit program, is ended.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Supported reports whether this machine can refuse system calls.
func Supported() bool {
	if _, known := architectures[runtime.GOARCH]; !known {
		return false
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && mode >= 0
}

// Install puts the rules on the calling thread, which loses the right to gain privileges. They cannot be taken off.
// It does nothing where Supported reports false.
func Install(rules []Rule) error {
	if !Supported() {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	code := assemble(architectures[runtime.GOARCH], rules)
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("refuse system calls: %w", errno)
	}
	return nil
}

// assemble writes the rules as a program of the kernel's packet filter.
func assemble(architecture uint32, rules []Rule) []unix.SockFilter {
	code := []unix.SockFilter{
		load(archAt),
		jumpEqual(architecture, 1, 0),
		end(unix.SECCOMP_RET_KILL_PROCESS),
	}
	if architecture == unix.AUDIT_ARCH_X86_64 {
		code = append(code, load(callAt), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, Jf: 1},
			refuse(unix.ENOSYS))
	}
	for _, r := range rules {
		body := r.body()
		code = append(code, load(callAt), jumpEqual(uint32(r.Call), 0, uint8(len(body))))
		code = append(code, body...)
	}
	return append(code, end(unix.SECCOMP_RET_ALLOW))
}

// body is what follows when the call is the rule's.
func (r Rule) body() (code []unix.SockFilter) {
	for _, all := range r.Unless {
		var checks []unix.SockFilter
		for i := len(all) - 1; i >= 0; i-- { // backwards: each jump leads behind what follows it
			checks = append(all[i].check(len(checks)+1), checks...)
		}
		code = append(append(code, checks...), end(unix.SECCOMP_RET_ALLOW))
	}
	return append(code, refuse(r.Errno))
}

// check goes on when the argument matches, and passes over the rest and what follows it otherwise.
func (a Arg) check(rest int) (code []unix.SockFilter) {
	at := uint32(argsAt + 8*a.Index)
	code = append(code, load(at))
	if a.Mask != 0 {
		code = append(code, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: a.Mask})
	}
	if !a.Wide {
		return append(code, jumpEqual(a.Value, 0, uint8(rest)))
	}
	return append(code, jumpEqual(a.Value, 0, uint8(rest+2)), load(at+4), jumpEqual(0, 0, uint8(rest)))
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jumpEqual(value uint32, same, other uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: same, Jf: other}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func refuse(errno unix.Errno) unix.SockFilter {
	return end(unix.SECCOMP_RET_ERRNO | uint32(errno))
}
