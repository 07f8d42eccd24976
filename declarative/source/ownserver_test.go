package source

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

// useNames makes names resolve to fixed addresses, one after the other at each question.
func useNames(t *testing.T, names map[string][]string) {
	t.Helper()
	var mu sync.Mutex
	next := func(name string) string { // one connection asks for IPv4, another for IPv6
		mu.Lock()
		defer mu.Unlock()
		all := names[name]
		if len(all) == 0 {
			return ""
		}
		if len(all) > 1 {
			names[name] = all[1:]
		}
		return all[0]
	}
	before := resolver
	t.Cleanup(func() { resolver = before })
	resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go answerNames(there, next)
		return here, nil
	}}
}

// answerNames is a name server for one connection. The function next returns the address of a name, or nothing.
func answerNames(c net.Conn, next func(name string) string) {
	defer c.Close()
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := io.ReadFull(c, q); err != nil {
			return
		}
		var labels []string
		at := 12
		for q[at] != 0 {
			labels = append(labels, string(q[at+1:at+1+int(q[at])]))
			at += 1 + int(q[at])
		}
		question, kind := q[12:at+5], binary.BigEndian.Uint16(q[at+1:])
		out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
		if kind == 1 {
			if text := next(strings.Join(labels, ".")); text != "" {
				out[7] = 1
				address := netip.MustParseAddr(text).As4()
				out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				out = append(out, address[:]...)
			}
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}

// A connection never reaches a private address, whatever its name is and whatever the name resolved to before.
func TestDialPublic(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	useNames(t, map[string][]string{"inner.example": {"127.0.0.1"}, "moves.example": {"203.0.113.9", "127.0.0.1"},
		"network.example": {"10.0.0.7"}, "metadata.example": {"169.254.169.254"}})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "0.0.0.0",
		"inner.example", "network.example", "metadata.example"} {
		if c, err := dialPublic(t.Context(), "tcp", host+":"+port); !errors.Is(err, ErrNotOwnServer) {
			t.Errorf("%s: %v", host, err)
			if err == nil {
				c.Close()
			}
		}
	}
	// The name is public when the settings are checked, and private when the connection is made.
	if isPrivateHost(t.Context(), "moves.example:443") {
		t.Error("the name has a private address at once")
	}
	if _, err := dialPublic(t.Context(), "tcp", "moves.example:"+port); !errors.Is(err, ErrNotOwnServer) {
		t.Errorf("a name that moves: %v", err)
	}
	if !isPrivateHost(t.Context(), "network.example") || isPrivateHost(t.Context(), "none.example") {
		t.Error("the check of settings does not resolve names")
	}
}

// A redirect reaches a private address neither directly nor through a name that the file may use.
func TestRedirectToPrivateAddress(t *testing.T) {
	useNames(t, map[string][]string{"inner.example": {"127.0.0.1"}})
	var inner int
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inner++ }))
	defer private.Close()
	_, port, err := net.SplitHostPort(private.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	to := ""
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}))
	defer public.Close()
	client, err := governhttp.New(governhttp.Options{BaseURL: "http://public.example",
		Hosts: []string{"inner.example:" + port},
		Sender: governhttp.NewSender(governor.New("test", func(c *governor.Config) { c.Discovery, c.Attempts = 0, 1 }),
			governhttp.SenderOptions{}),
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "public.example:") { // no test reaches a public address
				return (&net.Dialer{}).DialContext(ctx, network, public.Listener.Addr().String())
			}
			return dialPublic(ctx, network, address)
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, to = range []string{private.URL, "http://inner.example:" + port, "http://localhost:" + port + "/x"} {
		if _, err := client.Do(t.Context(), governhttp.Request{Path: "start"}); err == nil {
			t.Errorf("the redirect to %s was followed", to)
		}
	}
	if inner > 0 {
		t.Errorf("%d requests reached a private address", inner)
	}
}
