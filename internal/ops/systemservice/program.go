package systemservice

// Program is one of our programs as a service of the operating system.
type Program struct {
	Name  string // of the systemd unit, without .service
	Label string // of launchd
	Title string // for people; also the name of the task on Windows
	// Run are the arguments that start the service. Where the system keeps no log, --log-file follows.
	Run []string
	// Background marks a program that gives way to everything else.
	Background bool
	// Settings and SystemSettings are the lines of the systemd section [Service], for a user's service and for one of
	// the whole machine. A program without SystemSettings is a user's service only.
	Settings, SystemSettings string
	ByHand                   string // the command that does the same without a service
}

// Collector is the program that collects on the owner's other computers.
var Collector = Program{Name: "pdpp-collector", Label: "org.pdpp.collector", Title: "PDPP local collector",
	Run: []string{"service", "run"}, Background: true, ByHand: "pdpp-local-collector run",
	Settings: `Nice=10
IOSchedulingClass=idle
CPUWeight=20
MemoryHigh=96M
MemoryMax=256M
NoNewPrivileges=true
Restart=on-failure
RestartSec=30
`}

// Server is the program that collects, stores and serves.
var Server = Program{Name: "pdpp", Label: "org.pdpp.server", Title: "PDPP, which collects your own data",
	Run: []string{"serve"}, ByHand: "pdpp serve",
	Settings: `EnvironmentFile=-%E/pdpp.conf
` + stopServer + `NoNewPrivileges=yes
`,
	SystemSettings: `User=pdpp
Group=pdpp
StateDirectory=pdpp
StateDirectoryMode=0700
EnvironmentFile=-/etc/pdpp.conf
` + stopServer + `NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectSystem=strict
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictRealtime=yes
RestrictSUIDSGID=yes
CapabilityBoundingSet=
LockPersonality=yes
SystemCallArchitectures=native
`}

const stopServer = `# A signal to the browsers of a sign-in would lose what they have not written yet.
KillMode=mixed
TimeoutStopSec=60
Restart=on-failure
RestartSec=5
MemoryMax=2G
UMask=0077
`

// SystemHome is where the server keeps its data as a service of the whole machine.
const SystemHome = "/var/lib/pdpp"
