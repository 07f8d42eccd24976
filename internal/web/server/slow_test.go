package server

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A slow body is cut off at the limit of a request, and the client gets an error.
func TestSlowBodiesAreCutOff(t *testing.T) {
	for kind, path := range map[string]string{"application/x-www-form-urlencoded": "/form", "application/json": "/json"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := newPipes()
			ended := make(chan error, 1)
			go func() { ended <- Serve(ctx, p, Config{Mount: taking}) }()
			conn := p.dial()
			began := time.Now()
			io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: pdpp.example\r\nContent-Type: "+kind+"\r\nContent-Length: "+
				"100\r\n\r\n")
			var trickle sync.WaitGroup
			trickle.Go(func() {
				for {
					time.Sleep(7 * time.Second)
					if _, err := io.WriteString(conn, " "); err != nil {
						return
					}
				}
			})
			body, _ := io.ReadAll(conn)
			if took := time.Since(began); took != readTimeout {
				t.Errorf("%s: cut off after %v", kind, took)
			}
			if text := string(body); !strings.HasPrefix(text, "HTTP/1.1 408 ") ||
				!strings.Contains(text, `"code":"request_timeout"`) {
				t.Errorf("%s: %s", kind, text)
			}
			conn.Close()
			trickle.Wait()
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("serve: %v", err)
			}
		})
	}
}
