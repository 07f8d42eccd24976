package foreign

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"pdpp/connectorkit"
	"pdpp/foreign/governproxy"
	"pdpp/governor"
	"pdpp/governor/governhttp"
)

// ConfinedCommand is the argument by which the host program becomes Confined.
const ConfinedCommand = "confined"

// route is a tap's way to the network: the proxy, and that nothing leads past it.
type route struct {
	proxy    *governproxy.Proxy
	enforced bool
	output   atomic.Pointer[output] // of the tap, once it was started
}

// place returns how much the tap has written so far.
func (r *route) place() int64 {
	if out := r.output.Load(); out != nil {
		return out.written()
	}
	return 0
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

// command is the tap's, led through the proxy.
func (r *route) command(argv []string) ([]string, error) {
	if !r.enforced {
		return argv, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return append([]string{self, ConfinedCommand, strconv.Itoa(r.proxy.Port())}, argv...), nil
}

// traffic is what can be said of the tap's requests.
func (r *route) traffic() Traffic {
	seen := r.proxy.Seen()
	return Traffic{
		Unseen:  seen.Blind || !r.enforced && seen.Requests == 0,
		Refused: seen.Refused, Elsewhere: seen.Elsewhere, Last: seen.Last, Asked: seen.Places, Refusals: seen.Refusals,
	}
}
