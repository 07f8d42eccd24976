package runner

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a connector's process with everything that it starts, held together by a job:
// nothing leaves it, and it ends when the runner does.
type group struct {
	leader uint32
	job    windows.Handle
}

// jobMemory is what a connector may use.
const jobMemory = 512 << 20

// ownGroup lets a process be asked to end without asking this one too.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.BELOW_NORMAL_PRIORITY_CLASS, HideWindow: true}
}

// runAs is not for this system.
func runAs(*exec.Cmd, User) (*os.File, error) { return nil, errors.ErrUnsupported }

func groupOf(p *os.Process) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_JOB_MEMORY},
		JobMemoryLimit:        jobMemory,
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = joinJob(job, uint32(p.Pid))
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &group{uint32(p.Pid), job}, nil
}

func joinJob(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

func (g *group) ask() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.leader) }

func (g *group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

// end leaves nothing of the group: closing a job ends what is in it.
func (g *group) end() { _ = windows.CloseHandle(g.job) }

// signalOf is empty: there are no signals here.
func signalOf(*os.ProcessState) string { return "" }

// alive reports whether there is a process of that id.
func alive(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	event, err := windows.WaitForSingleObject(process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
