// Package confine starts programs that may access only selected files.
//
// On Linux the kernel's Landlock enforces the limits for the program and its descendants; no program can remove
// them. Without Landlock, programs start without limits. Supported reports which applies, so that the owner can
// be informed.
//
// The limits cover files and, from kernel 6.12 on, signals to processes outside and abstract sockets. A system
// call filter covers limits and priorities of other processes, and the modes of files by path. The limits do not
// cover the network, unless Offline is set, sockets with a path, and resource usage, unless the program bounds
// itself.
package confine

// Limits are what a program may access, in addition to the libraries, interpreters, certificates and name service
// of the system.
type Limits struct {
	// Program is the executable, which the program may read and execute.
	Program string
	// Read are files and folders that it may read. Missing ones are ignored.
	Read []string
	// Execute are additional programs that it may start.
	Execute []string
	// Write are folders with full access.
	Write []string
	// Offline prevents TCP connections, from kernel 6.7 on.
	Offline bool
	// Sandbox lets it start programs that use their own namespaces, such as browsers: these write to their own
	// files below /proc. It is not for programs of root, because root can change system settings below /proc.
	Sandbox bool
}

// systemFiles are the files that a program needs to start, to resolve hosts and to check certificates. None of them is
// secret; complete settings folders would contain secrets.
var systemFiles = []string{
	"/usr",
	"/bin",
	"/sbin",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/nix/store",
	"/gnu/store",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/ld.so.conf.d",
	"/etc/ld.so.preload",
	"/etc/alternatives",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/ssl/cert.pem",
	"/etc/pki/tls/certs",
	"/etc/pki/tls/cert.pem",
	"/etc/pki/ca-trust",
	"/etc/ca-certificates",
	"/etc/resolv.conf",
	"/etc/hosts",
	"/etc/host.conf",
	"/etc/nsswitch.conf",
	"/etc/gai.conf",
	"/etc/services",
	"/etc/protocols",
	"/etc/localtime",
	"/etc/timezone",
	"/etc/passwd",
	"/etc/group",
	"/etc/os-release",
	"/etc/mime.types",
	"/etc/fonts",
	"/proc/cpuinfo",
	"/proc/meminfo",
	"/proc/stat",
	"/proc/uptime",
	"/proc/loadavg",
	"/proc/version",
	"/proc/filesystems",
	"/proc/sys",
	"/sys/devices/system/cpu",
	"/sys/fs/cgroup",
	"/sys/kernel/mm/transparent_hugepage",
	"/dev/zero",
	"/dev/full",
	"/dev/random",
	"/dev/urandom",
}

// writableDevices are devices that are also written to. Without /dev/null no shell can start anything.
var writableDevices = []string{"/dev/null"}
