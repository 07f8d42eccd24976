package publicaddress

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// CheckChosen returns ErrNotPublic for an address that a request must not reach although an owner chose where it goes.
// Local allows private addresses. Plain http never leaves the private network.
func CheckChosen(ip netip.Addr, scheme string, local bool) error {
	public := IsPublic(ip)
	if IsForbidden(ip) || !public && !local || public && scheme == "http" {
		return ErrNotPublic
	}
	return nil
}

// ChosenTransport returns a transport that reaches only what CheckChosen allows, whatever a name leads to. It uses no
// proxy, which would resolve the name after the check.
func ChosenTransport(scheme string, local bool, connectTime time.Duration) *http.Transport {
	control := func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(resolved)
		if err != nil {
			return ErrNotPublic
		}
		return CheckChosen(at.Addr(), scheme, local)
	}
	return &http.Transport{DialContext: (&net.Dialer{Timeout: connectTime, ControlContext: control}).DialContext,
		Proxy: nil, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: 16 << 10}
}
