package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

// withKnownHost refuses a request for a name that this server does not go by: its
// public one, those of the loopback address, and the address that the request came in
// at. Any page can let its own name point here; such a page speaks with its own name.
func withKnownHost(public string, next http.Handler) http.Handler {
	own := ""
	if u, err := url.Parse(public); err == nil {
		own = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := hostOf(r.Host); !strings.EqualFold(host, "localhost") && !isLoopback(host) && !cameInAt(r, host) &&
			(own == "" || !strings.EqualFold(host, own)) {
			reply.WriteFailure(w, r, reply.TypeInvalidRequest, &usererr.Error{
				Status: http.StatusMisdirectedRequest, Code: "unknown_host", Message: "This server does not go by that name.",
				Next: "Use http://localhost, or set PDPP_BASE_URL to the address that you reach it by.",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostOf takes the port off.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// cameInAt reports whether a host is the address of this machine that was connected to.
func cameInAt(r *http.Request, host string) bool {
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	address, err := netip.ParseAddr(host)
	return ok && err == nil && address.Unmap() == at.AddrPort().Addr().Unmap().WithZone("")
}

// onLoopback reports whether only this machine can reach the listener.
func onLoopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}
