// Package publicaddress separates public addresses from those of this machine and of private networks. It is the one
// guard of all requests to addresses that a provider, an app or a file chose.
package publicaddress

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
)

// translated are the addresses of IPv4 hosts in networks that have IPv6 only.
var translated = netip.MustParsePrefix("64:ff9b::/96")

// reserved are prefixes that are neither private nor public: between customers and a carrier, for tests, for later use,
// and of tunnels that lead to an IPv4 address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("fec0::/10"),
}

// Final returns the address that packets for an address reach: the IPv4 address in a mapped or translated one, and
// otherwise the address itself without its zone.
func Final(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if translated.Contains(a) {
		last := a.As16()
		return netip.AddrFrom4([4]byte(last[12:]))
	}
	return a
}

// IsPublic reports whether an address is one of the public Internet.
func IsPublic(a netip.Addr) bool {
	a = Final(a)
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

// credentialed are addresses at which clouds hand out credentials, besides the link-local ones.
var credentialed = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::254/128"), netip.MustParsePrefix("fd20:ce::254/128"),
	netip.MustParsePrefix("100.100.100.200/32"),
}

// IsForbidden reports whether nothing may be sent to an address, even if the owner allows private ones.
func IsForbidden(a netip.Addr) bool {
	a = Final(a)
	for _, p := range credentialed {
		if p.Contains(a) {
			return true
		}
	}
	return a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() ||
		a == netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

// ErrNotPublic means that a connection to an address that is not public was refused.
var ErrNotPublic = errors.New("the address is not public")

// DialControl refuses to connect to an address that is not public. It is the ControlContext of a net.Dialer, which
// calls it with the address that a name resolved to.
func DialControl(_ context.Context, _, resolved string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(resolved)
	if err != nil || !IsPublic(at.Addr()) {
		return ErrNotPublic
	}
	return nil
}
