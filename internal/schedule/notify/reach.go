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
)

// A push goes where the owner said and nowhere else. Link-local addresses are never a target:
// a cloud's machines find their credentials there. Addresses of this machine and of a private
// network are one only if the owner named them as such: a public name that leads to one is as a
// rule somebody else's trick. The address is judged when it is dialled, after every name was
// resolved and every redirect followed.
var errForbidden = errors.New("forbidden address")

// metadata are addresses beside the link-local ones at which clouds hand out credentials.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::254/128"),
	netip.MustParsePrefix("fd20:ce::254/128"),
	netip.MustParsePrefix("100.100.100.200/32"),
}

// sharedNetwork is what carriers and overlay networks use as their private addresses.
var sharedNetwork = netip.MustParsePrefix("100.64.0.0/10")

// translated is how an IPv4 address reads behind a translator to IPv6.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// mayReach judges an address to which host leads.
func mayReach(host string, ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	if translated.Contains(ip) {
		b := ip.As16()
		ip = netip.AddrFrom4([4]byte(b[12:]))
	}
	if forbidden(ip) {
		return errForbidden
	}
	if (ip.IsLoopback() || ip.IsPrivate() || sharedNetwork.Contains(ip)) && !local(host) {
		return errForbidden
	}
	return nil
}

func forbidden(ip netip.Addr) bool {
	for _, p := range metadata {
		if p.Contains(ip) {
			return true
		}
	}
	return ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// localEndings end names that lead nowhere but into one's own network.
var localEndings = []string{".localhost", ".local", ".lan", ".home", ".home.arpa", ".internal", ".intranet"}

// local reports whether a host names a place of one's own network: by its address, or by a
// name that the public has none of.
func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if _, err := netip.ParseAddr(host); err == nil || !strings.Contains(host, ".") {
		return true
	}
	for _, ending := range localEndings {
		if strings.HasSuffix(host, ending) {
			return true
		}
	}
	return false
}

// dialLimit bounds how long a target's machine may take to answer at all.
const dialLimit = 10 * time.Second

// transport dials only what may be reached. Resolver is nil for the system's own.
func transport(resolver *net.Resolver) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Timeout: dialLimit, Resolver: resolver, ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
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

// plainTransport is kept, so that its connections are used again.
var plainTransport = transport(nil)
