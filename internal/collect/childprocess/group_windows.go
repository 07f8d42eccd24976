package childprocess

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processGroup is a child process with all of its descendants in one job object. No process can leave the job,
// and the job ends together with this process.
type processGroup struct {
	leader uint32
	job    windows.Handle
}

// jobMemoryLimit is the memory that a child and its descendants may use together.
const jobMemoryLimit = 512 << 20

// groupLeader returns attributes for a new console group, so that a break event reaches only the child.
func groupLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.BELOW_NORMAL_PRIORITY_CLASS,
		HideWindow:    true,
	}
}

// runAsUser is not supported on Windows.
func runAsUser(*exec.Cmd, User) (*os.File, error) { return nil, errors.ErrUnsupported }

func newProcessGroup(p *os.Process) (*processGroup, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_JOB_MEMORY,
		},
		JobMemoryLimit: jobMemoryLimit,
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assignToJob(job, uint32(p.Pid))
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &processGroup{uint32(p.Pid), job}, nil
}

func assignToJob(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

func (g *processGroup) interrupt() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.leader)
}

func (g *processGroup) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// release closes the job, which ends the processes in it.
func (g *processGroup) release() { _ = windows.CloseHandle(g.job) }

// exitSignal returns "": Windows has no signals.
func exitSignal(*os.ProcessState) string { return "" }

// processExists reports whether a process with this id exists.
func processExists(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	event, err := windows.WaitForSingleObject(process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
