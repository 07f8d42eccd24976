package notify

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// pipes is a listener without a network, so that virtual time passes while its
// connections wait.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// serve starts a server and returns a client that reaches it for any host.
func serve(t *testing.T, handler http.Handler) *http.Client {
	p := &pipes{make(chan net.Conn), make(chan struct{})}
	srv := &http.Server{Handler: handler}
	go func() { _ = srv.Serve(p) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case p.conns <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = srv.Close()
	})
	return &http.Client{Transport: transport}
}

func TestSlowTargetHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow, quick atomic.Int32
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Host == "slow.example" {
				slow.Add(1)
				<-r.Context().Done() // until the caller cancels
				return
			}
			quick.Add(1)
		}))
		m := &memory{records: []attention.AttentionRecord{pending("att_1"), pending("att_2"), pending("att_3")},
			targets: []store.PushTarget{
				{ID: "pt_1", Kind: store.TargetWebhook, Endpoint: "http://slow.example/"},
				{ID: "pt_2", Kind: store.TargetWebhook, Endpoint: "http://quick.example/"},
			}}
		start := time.Now()
		mustDeliver(t, &Sender{Store: m, HTTP: client}, start)
		if took := time.Since(start); took != requestLimit {
			t.Errorf("the pass took %v, want %v", took, requestLimit)
		}
		if slow.Load() != 1 || quick.Load() != 3 {
			t.Errorf("the slow target was asked %d times, the quick one %d", slow.Load(), quick.Load())
		}
		for _, id := range []string{"att_1", "att_2", "att_3"} {
			if r := m.record(t, id); r.Notice != attention.NoticeSent {
				t.Errorf("record = %+v", r)
			}
		}
		if tg := m.targets[0]; tg.LastFailure != "timeout" || tg.Failures != 1 {
			t.Errorf("slow target = %+v", tg)
		}
	})
}

// An answer that never ends is not read to its end, and was an answer.
func TestEndlessAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}))
		m := &memory{records: []attention.AttentionRecord{pending("att_1")},
			targets: []store.PushTarget{{ID: "pt_1", Kind: store.TargetWebhook, Endpoint: "http://endless.example/"}}}
		mustDeliver(t, &Sender{Store: m, HTTP: client}, time.Now())
		if r := m.record(t, "att_1"); r.Notice != attention.NoticeSent {
			t.Errorf("record = %+v", r)
		}
	})
}

// However much there is and however slow the targets are, a pass ends before
// its claims run out.
func TestPassIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-time.After(requestLimit - time.Second):
			case <-r.Context().Done():
			}
		}))
		m := &memory{targets: []store.PushTarget{{ID: "pt_1", Kind: store.TargetWebhook, Endpoint: "http://slow.example/"}}}
		for i := range 2 * perPass {
			m.records = append(m.records, pending("att_"+string(rune('a'+i))))
		}
		start := time.Now()
		mustDeliver(t, &Sender{Store: m, HTTP: client}, start)
		if took := time.Since(start); took != passLimit || took >= claimTime {
			t.Errorf("the pass took %v", took)
		}
		begun := 0
		for _, r := range m.records {
			if r.Revision > 1 {
				begun++
			}
		}
		if begun != perPass {
			t.Errorf("the pass began %d notices, want %d", begun, perPass)
		}
	})
}
