package foreign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"pdpp/connectorkit"
	"pdpp/foreign/governproxy"
	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// ConfinedCommand is the argument by which the host program becomes Confined. Of its own arguments,
// insideNamespace selects a namespace, and reportArgument asks what this machine can enforce.
const (
	ConfinedCommand = "confined"
	insideNamespace = "namespace"
	reportArgument  = "report"
)

// insidePort is the proxy's port in a namespace, where every port is free.
const insidePort = 3128

// Enforcement is what keeps a program from the network past the proxy.
type Enforcement struct {
	// By is ByNamespace, ByPort or ByNothing.
	By string `json:"by"`
	// Reason is why it is not ByNamespace.
	Reason string `json:"reason,omitzero"`
}

// The kinds of enforcement.
const (
	// ByNamespace means that the proxy is the only neighbour of the program.
	ByNamespace = "namespace"
	// ByPort means that the program connects over TCP only to the proxy's port, at any host.
	ByPort = "port"
	// ByNothing means that a program can take another way.
	ByNothing = "nothing"
)

// container is why nothing is enforced for a program that asks a daemon to start a container.
var container = Enforcement{By: ByNothing, Reason: "a container is started by a daemon, which nothing here holds"}

// enforcement tries what this machine can enforce for a program, with only the launcher.
func enforcement(argv []string) (Enforcement, error) {
	if isContainerClient(argv) {
		return container, nil
	}
	self, err := os.Executable()
	if err != nil {
		return Enforcement{}, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self, ConfinedCommand, insideNamespace)
	listener, err := startInNamespace(cmd)
	if err == nil {
		_ = listener.Close()
		return Enforcement{By: ByNamespace}, cmd.Wait()
	}
	if !errors.Is(err, errNoNamespace) {
		return Enforcement{}, err
	}
	return withoutNamespace(err), nil
}

// withoutNamespace is what is left where no namespace can be made.
func withoutNamespace(err error) Enforcement {
	if holdsPorts() {
		return Enforcement{By: ByPort, Reason: err.Error()}
	}
	return Enforcement{By: ByNothing, Reason: err.Error()}
}

func printEnforcement(argv []string) error {
	found, err := enforcement(argv)
	if err != nil {
		return err
	}
	return json.MarshalWrite(os.Stdout, found)
}

// route is a tap's way to the network: the proxy, and what keeps the tap from passing it.
type route struct {
	proxy  *governproxy.Proxy
	by     Enforcement
	output atomic.Pointer[output] // of the tap, once it was started
}

// place returns how much the tap has written so far.
func (r *route) place() int64 {
	if out := r.output.Load(); out != nil {
		return out.written()
	}
	return 0
}

// launch starts a program that reaches the network through the proxy. It calls prepare with the command line and
// the variables that lead to the proxy, and starts what it returns; a second time where the first attempt shows
// that this machine makes no namespaces.
func (r *route) launch(argv []string, dir string, prepare func(argv, env []string) *exec.Cmd) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	r.by = container
	if !isContainerClient(argv) {
		env, err := r.proxy.Environment(dir, insidePort)
		if err != nil {
			return nil, err
		}
		cmd := prepare(append([]string{self, ConfinedCommand, insideNamespace}, argv...), env)
		listener, err := startInNamespace(cmd)
		if err == nil {
			r.by = Enforcement{By: ByNamespace}
			r.proxy.Serve(listener)
			return cmd, nil
		}
		if !errors.Is(err, errNoNamespace) {
			return nil, err
		}
		r.by = withoutNamespace(err)
	}
	if r.proxy.Port() == 0 {
		if err := r.proxy.Listen(); err != nil {
			return nil, err
		}
	}
	env, err := r.proxy.Environment(dir, r.proxy.Port())
	if err != nil {
		return nil, err
	}
	if holdsPorts() {
		argv = append([]string{self, ConfinedCommand, strconv.Itoa(r.proxy.Port())}, argv...)
	}
	cmd := prepare(argv, env)
	return cmd, cmd.Start()
}

// ways are the governed ways to the hosts of a tap, by host. The first host's pace stands for
// the connector's own.
func ways(s *connectorkit.Setup, hosts []string) func(string) *governhttp.Sender {
	held := func(c *governor.Config) { c.MaxWait = governproxy.Hold }
	found := map[string]*governhttp.Sender{}
	for i, host := range hosts {
		if i == 0 {
			found[host] = s.Sender("", held)
		} else if found[host] == nil {
			found[host] = s.Sender(host, held)
		}
	}
	return func(host string) *governhttp.Sender {
		if way := found[host]; way != nil {
			return way
		}
		for pattern, way := range found { // of a provider that has a host for each account, say
			if suffix, any := strings.CutPrefix(pattern, "*"); any && strings.HasPrefix(suffix, ".") && strings.HasSuffix(host, suffix) {
				return way
			}
		}
		return nil
	}
}

// hosts are what the tap may reach: those of its adapter, and the owner's.
func (a *Adapter) hosts(more string) []string { return union(a.Hosts, strings.Split(more, ",")) }

// traffic is what can be said of the tap's requests.
func (r *route) traffic() Traffic {
	seen := r.proxy.Seen()
	return Traffic{
		Unseen:  seen.Blind || r.by.By == ByNothing && seen.Requests == 0,
		Refused: seen.Refused, Elsewhere: seen.Elsewhere, Last: seen.Last, Asked: seen.Places, Refusals: seen.Refusals,
	}
}
