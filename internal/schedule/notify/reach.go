package notify

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/publicaddress"
)

// errForbidden is the error for an address that notifications may not be sent to. Link-local addresses are never
// allowed: cloud machines get their credentials there. Addresses of this machine and of a private network are allowed
// only if the owner entered them as such: a public name that resolves to one is usually an attack. The address is
// checked when it is dialled, after all name resolution and redirects.
var errForbidden = errors.New("forbidden address")

// mayReach returns an error if host may not resolve to ip.
func mayReach(host string, ip netip.Addr) error {
	ip = publicaddress.Final(ip)
	if publicaddress.IsForbidden(ip) || !publicaddress.IsPublic(ip) && !isLocalHost(host) {
		return errForbidden
	}
	return nil
}

// localSuffixes end names that exist only in private networks.
var localSuffixes = []string{".localhost", ".local", ".lan", ".home", ".home.arpa", ".internal", ".intranet"}

// isLocalHost reports whether a host is in a private network: by its address, or by a name that is not public.
func isLocalHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true
	}
	for _, ending := range localSuffixes {
		if strings.HasSuffix(host, ending) {
			return true
		}
	}
	return false
}

// dialLimit is the timeout for connecting to a target.
const dialLimit = 10 * time.Second

// newTransport returns a transport that dials only allowed addresses. A nil resolver means the system's.
func newTransport(resolver *net.Resolver) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Timeout: dialLimit, Resolver: resolver,
			ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
				at, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return errForbidden
				}
				return mayReach(host, at.Addr())
			}}
		return d.DialContext(ctx, network, address)
	}
	return t
}

// plainTransport is shared, so that its connections are reused.
var plainTransport = newTransport(nil)
