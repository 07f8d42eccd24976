package server

import (
	"net/http"
	"net/netip"
	"strings"
)

// ParseProxies reads addresses and networks with commas between, as 10.0.0.0/8, ::1.
// The second value is the part that is neither.
func ParseProxies(text string) (proxies []netip.Prefix, wrong string) {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		network, err := netip.ParsePrefix(part)
		if err != nil {
			address, err := netip.ParseAddr(part)
			if err != nil {
				return nil, part
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		proxies = append(proxies, network.Masked())
	}
	return proxies, ""
}

// withClientAddress puts the address of whoever asks into RemoteAddr, where every
// handler reads it. A request that comes from a trusted proxy comes from the last
// address in its header that is not a trusted proxy too: what stands before was
// written by the client, who may write anything.
//
// There are two headers. A proxy adds to the one that it knows and passes the other
// on as the client wrote it, so that where they disagree neither counts.
func withClientAddress(proxies []netip.Prefix, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := netip.ParseAddrPort(r.RemoteAddr)
		if err == nil && trusted(proxies, at.Addr()) {
			if client, ok := clientOf(r.Header, proxies); ok {
				said := *r
				said.RemoteAddr = netip.AddrPortFrom(client, 0).String()
				r = &said
			}
		}
		next.ServeHTTP(w, r)
	})
}

func clientOf(h http.Header, proxies []netip.Prefix) (client netip.Addr, ok bool) {
	usual, hasUsual := lastStranger(h.Values("X-Forwarded-For"), proxies, func(s string) string { return s })
	standard, hasStandard := lastStranger(h.Values("Forwarded"), proxies, forwardedFor)
	switch {
	case hasUsual && hasStandard:
		return usual, usual == standard
	case hasUsual:
		return usual, len(h.Values("Forwarded")) == 0
	default:
		return standard, hasStandard && len(h.Values("X-Forwarded-For")) == 0
	}
}

// lastStranger walks from the last hop back. A hop that cannot be read ends it: what
// stands before is no better.
func lastStranger(lines []string, proxies []netip.Prefix, address func(hop string) string) (netip.Addr, bool) {
	hops := strings.Split(strings.Join(lines, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := readHop(address(strings.TrimSpace(hops[i])))
		if err != nil {
			return netip.Addr{}, false
		}
		if !trusted(proxies, hop) {
			return hop, true
		}
	}
	return netip.Addr{}, false
}

// forwardedFor gives the node of one element of a Forwarded header (RFC 7239).
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// readHop reads an address, with a port or without.
func readHop(s string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return address.Unmap().WithZone(""), err
}

func trusted(proxies []netip.Prefix, address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, p := range proxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}
