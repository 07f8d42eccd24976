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

// withClientAddress sets RemoteAddr to the client's address. For a request from a trusted proxy it is the last
// address in the header that is not a trusted proxy. Earlier addresses come from the client and may be forged.
//
// There are two headers. A proxy appends to the one that it knows and forwards the other unchanged from the client,
// so if they disagree neither counts.
func withClientAddress(proxies []netip.Prefix, next http.Handler) http.Handler {
	if len(proxies) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, err := netip.ParseAddrPort(r.RemoteAddr)
		if err == nil && isTrusted(proxies, at.Addr()) {
			if client, ok := clientAddress(r.Header, proxies); ok {
				forwarded := *r
				forwarded.RemoteAddr = netip.AddrPortFrom(client, 0).String()
				r = &forwarded
			}
		}
		next.ServeHTTP(w, r)
	})
}

func clientAddress(h http.Header, proxies []netip.Prefix) (client netip.Addr, ok bool) {
	usual, hasUsual := lastUntrusted(h.Values("X-Forwarded-For"), proxies, func(s string) string { return s })
	standard, hasStandard := lastUntrusted(h.Values("Forwarded"), proxies, forwardedFor)
	switch {
	case hasUsual && hasStandard:
		return usual, usual == standard
	case hasUsual:
		return usual, len(h.Values("Forwarded")) == 0
	default:
		return standard, hasStandard && len(h.Values("X-Forwarded-For")) == 0
	}
}

// lastUntrusted walks back from the last hop. It stops at an unreadable hop: earlier ones are no better.
func lastUntrusted(lines []string, proxies []netip.Prefix, address func(hop string) string) (netip.Addr, bool) {
	hops := strings.Split(strings.Join(lines, ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := parseHop(address(strings.TrimSpace(hops[i])))
		if err != nil {
			return netip.Addr{}, false
		}
		if !isTrusted(proxies, hop) {
			return hop, true
		}
	}
	return netip.Addr{}, false
}

// forwardedFor returns the node of one element of a Forwarded header (RFC 7239).
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// parseHop reads an address, with a port or without.
func parseHop(s string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone(""), nil
	}
	address, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return address.Unmap().WithZone(""), err
}

func isTrusted(proxies []netip.Prefix, address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	for _, p := range proxies {
		if p.Contains(address) {
			return true
		}
	}
	return false
}
