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

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/foreign/governproxy"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// ConfinedCommand is the argument that makes the host program run Confined. Of its own arguments, insideNamespace
// selects a namespace, and reportArgument requests what this machine can enforce.
const (
	ConfinedCommand = "confined"
	insideNamespace = "namespace"
	reportArgument  = "report"
)

// insidePort is the proxy's port in a namespace, where every port is free.
const insidePort = 3128

// Enforcement is what prevents a program from bypassing the proxy.
type Enforcement struct {
	// By is ByNamespace, ByPort or ByNothing.
	By string `json:"by"`
	// Reason is why it is not ByNamespace.
	Reason string `json:"reason,omitzero"`
}

// The kinds of enforcement.
const (
	// ByNamespace means that the program can only reach the proxy.
	ByNamespace = "namespace"
	// ByPort means that the program connects over TCP only to the proxy's port, at any host.
	ByPort = "port"
	// ByNothing means that a program can bypass the proxy.
	ByNothing = "nothing"
)

// containerEnforcement is used for a program that asks a daemon to start a container.
var containerEnforcement = Enforcement{
	By:     ByNothing,
	Reason: "a container is started by a daemon, which nothing here holds",
}

// enforcement tests what this machine can enforce for a program, with the launcher.
func enforcement(argv []string) (Enforcement, error) {
	if isContainerClient(argv) {
		return containerEnforcement, nil
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

// withoutNamespace returns the enforcement on a machine without namespaces.
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

// networkRoute is a tap's access to the network: the proxy, and what prevents the tap from bypassing it.
type networkRoute struct {
	proxy  *governproxy.Proxy
	by     Enforcement
	output atomic.Pointer[tapOutput] // of the tap, after it was started
}

// place returns how much the tap has written so far.
func (r *networkRoute) place() int64 {
	if out := r.output.Load(); out != nil {
		return out.written()
	}
	return 0
}

// launch starts a program that reaches the network through the proxy. It calls prepare with the command line and
// the variables for the proxy, and starts the result. It tries a second time if the first attempt shows that this
// machine has no namespaces.
func (r *networkRoute) launch(
	argv []string,
	dir string,
	prepare func(argv, env []string) *exec.Cmd,
) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	r.by = containerEnforcement
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

// sendersByHost returns the senders for the hosts of a tap. The first host's pace is the connector's own.
func sendersByHost(s *connectorkit.Setup, hosts []string) func(string) *governhttp.Sender {
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
		for pattern, way := range found { // for example a provider with one host per account
			if suffix, any := strings.CutPrefix(
				pattern,
				"*",
			); any && strings.HasPrefix(suffix, ".") &&
				strings.HasSuffix(host, suffix) {
				return way
			}
		}
		return nil
	}
}

// hosts returns the hosts that the tap may reach: those of its adapter, and the owner's.
func (a *Adapter) hosts(more string) []string { return unionHosts(a.Hosts, strings.Split(more, ",")) }

// traffic returns the known results of the tap's requests.
func (r *networkRoute) traffic() Traffic {
	seen := r.proxy.Seen()
	return Traffic{
		Unseen:  seen.Blind || r.by.By == ByNothing && seen.Requests == 0,
		Refused: seen.Refused, Elsewhere: seen.Elsewhere, Last: seen.Last, Asked: seen.Places, Refusals: seen.Refusals,
	}
}
