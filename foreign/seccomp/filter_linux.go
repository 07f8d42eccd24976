package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the kernel's struct seccomp_data, on little-endian machines.
const (
	callOffset = 0
	archOffset = 4
	argsOffset = 16
)

// x32CallBit marks the calls of amd64's additional x32 interface.
const x32CallBit = 0x40000000

// architectures are supported. A program that uses the calls of another one, such as a 32-bit program, is ended.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// Supported reports whether this machine can reject system calls.
func Supported() bool {
	if _, known := architectures[runtime.GOARCH]; !known {
		return false
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && mode >= 0
}

// Install applies the rules to the calling thread permanently, which also loses the right to gain privileges. It
// does nothing if Supported reports false.
func Install(rules []Rule) error {
	if !Supported() {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up privileges: %w", err)
	}
	code := assembleFilter(architectures[runtime.GOARCH], rules)
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return fmt.Errorf("refuse system calls: %w", errno)
	}
	return nil
}

// assembleFilter compiles the rules to a program of the kernel's packet filter.
func assembleFilter(architecture uint32, rules []Rule) []unix.SockFilter {
	code := []unix.SockFilter{
		loadWord(archOffset),
		jumpEqual(architecture, 1, 0),
		returnCode(unix.SECCOMP_RET_KILL_PROCESS),
	}
	if architecture == unix.AUDIT_ARCH_X86_64 {
		code = append(
			code,
			loadWord(callOffset),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32CallBit, Jf: 1},
			rejectWith(unix.ENOSYS),
		)
	}
	for _, r := range rules {
		body := r.body()
		code = append(code, loadWord(callOffset), jumpEqual(uint32(r.Call), 0, uint8(len(body))))
		code = append(code, body...)
	}
	return append(code, returnCode(unix.SECCOMP_RET_ALLOW))
}

// body returns the code for a call of the rule.
func (r Rule) body() (code []unix.SockFilter) {
	for _, all := range r.Unless {
		var checks []unix.SockFilter
		for i := len(all) - 1; i >= 0; i-- { // backwards, because each jump skips what follows it
			checks = append(all[i].check(len(checks)+1), checks...)
		}
		code = append(append(code, checks...), returnCode(unix.SECCOMP_RET_ALLOW))
	}
	return append(code, rejectWith(r.Errno))
}

// check continues if the argument matches, and otherwise skips the rest and what follows.
func (a Arg) check(rest int) (code []unix.SockFilter) {
	at := uint32(argsOffset + 8*a.Index)
	code = append(code, loadWord(at))
	if a.Mask != 0 {
		code = append(code, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: a.Mask})
	}
	if !a.Wide {
		return append(code, jumpEqual(a.Value, 0, uint8(rest)))
	}
	return append(code, jumpEqual(a.Value, 0, uint8(rest+2)), loadWord(at+4), jumpEqual(0, 0, uint8(rest)))
}

func loadWord(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jumpEqual(value uint32, same, other uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: same, Jf: other}
}

func returnCode(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

func rejectWith(errno unix.Errno) unix.SockFilter {
	return returnCode(unix.SECCOMP_RET_ERRNO | uint32(errno))
}
