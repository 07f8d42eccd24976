// Package confine starts programs that may touch only the files that they are given.
//
// On Linux the kernel's Landlock holds them to it, and their descendants with them; no program
// can take the limits off again. Where there is no Landlock they start without: Supported says
// which it is, so that the owner can be told.
//
// What is held: files, and, from a kernel of the version 6.12 on, signals to processes outside
// and sockets of the abstract kind. A filter of system calls holds limits and priorities of other
// processes, and the modes of files that are named by their path. What is not: the network, unless they are to do without it,
// sockets that have a path, and how much of the machine they use, unless they bound themselves.
package confine

// Limits are what a program may touch, beside the libraries, interpreters, certificates and
// name service of the system, which every program gets.
type Limits struct {
	// Program is the executable, which it may read and execute.
	Program string
	// Read are files and folders that it may read. One that does not exist is left out.
	Read []string
	// Execute are further programs that it may start.
	Execute []string
	// Write are folders that are its own: it may do there what it likes.
	Write []string
	// Offline keeps it from connections over TCP, from a kernel of the version 6.7 on.
	Offline bool
	// Sandbox lets it start programs that put parts of themselves into namespaces of their own,
	// as browsers do: for that a process writes to its own files below /proc. It is not for
	// programs of root, whom the settings of the system below /proc obey.
	Sandbox bool
}

// system are the files that a program needs in order to start at all, to find hosts and to
// check certificates. None of them is anybody's secret; a folder of settings as a whole would
// hold some.
var system = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust", "/etc/ca-certificates",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/localtime", "/etc/timezone", "/etc/passwd", "/etc/group", "/etc/os-release", "/etc/mime.types", "/etc/fonts",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/loadavg", "/proc/version", "/proc/filesystems", "/proc/sys",
	"/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
	"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
}

// sinks are devices that are written to as well. Without the first no shell can start anything.
var sinks = []string{"/dev/null"}
