package realserver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// StartIMAPFront starts a proxy before a mail server. Every command of a client passes the gate as a request for
// a path: /login, /list, /examine, /search, /fetch/SET for what is known of messages, /body/SET for
// their content, and so on by the command's name. A fault is answered as such a server would:
//
//	Throttle, Bucket            NO [LIMIT]
//	Unavailable                 NO [UNAVAILABLE]
//	ServerError                 NO [SERVERBUG]
//	ExpiredToken                NO [AUTHENTICATIONFAILED] to a sign-in; else BYE, and the end
//	HTML                        a page, and the end
//	EmptyBody                   OK, without what was asked for
//	TruncatedJSON               the end in the middle of a literal
//	Reset                       half a line, then a reset
//	WrongContentType            BAD
//	WrongType, MissingField     invalid unsolicited answers before the real ones
//	SelfCursor                  BYE, and the end
//	SlowDrip, Latency           the real answer, slowly
//
// Capabilities that are named to be hidden are not announced, as if the server did not have them.
// The address is that of the front.
func StartIMAPFront(t testing.TB, gate *providersim.Gate, server string, hidden ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				back, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
				if err != nil {
					_ = conn.Close()
					return
				}
				stop := context.AfterFunc(ctx, func() { _, _ = conn.Close(), back.Close() })
				defer stop()
				w := &wiredConnection{ctx: ctx, gate: gate, client: conn.(*net.TCPConn), server: back, hidden: hidden}
				w.passConnection()
			})
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// wiredConnection is one connection through the front.
type wiredConnection struct {
	ctx    context.Context
	gate   *providersim.Gate
	client *net.TCPConn
	server net.Conn
	hidden []string // capabilities

	mu   sync.Mutex
	fate providersim.Judgement // of the answer that is under way
	tag  string                // of its command; empty when there is none
}

func (w *wiredConnection) passConnection() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.passAnswers()
		_ = w.client.Close()
	}()
	w.passCommands()
	_, _ = w.client.Close(), w.server.Close()
	<-done
}

// passCommands forwards the client's input line by line.
func (w *wiredConnection) passCommands() {
	in := bufio.NewReader(w.client)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		tag, command, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		w.mu.Lock()
		continues := w.tag != ""
		w.mu.Unlock()
		if !ok || continues { // the rest of a command
			if _, err := io.WriteString(w.server, line); err != nil {
				return
			}
			continue
		}
		path, pattern := gatePath(command)
		fate := w.gate.Judge(path, pattern)
		if !w.waitOrEnd(fate.Delay) || !w.handleCommand(tag, path, line, fate) {
			return
		}
	}
}

func (w *wiredConnection) waitOrEnd(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-w.ctx.Done():
		return false
	}
}

// handleCommand answers for the server, or passes the command on; false ends the connection.
func (w *wiredConnection) handleCommand(tag, path, line string, fate providersim.Judgement) bool {
	say := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(w.client, format, args...)
		return err == nil
	}
	for _, kind := range fate.Kinds {
		switch kind {
		case providersim.Throttle, providersim.Bucket:
			return say("%s NO [LIMIT] Too many commands. (Failure)\r\n", tag)
		case providersim.Unavailable:
			return say("%s NO [UNAVAILABLE] Temporarily out of order.\r\n", tag)
		case providersim.ServerError:
			return say("%s NO [SERVERBUG] Internal error.\r\n", tag)
		case providersim.ExpiredToken:
			if path == "/login" {
				return say("%s NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)\r\n", tag)
			}
			say("* BYE Session ended.\r\n")
			return false
		case providersim.SelfCursor:
			say("* BYE Shutting down.\r\n")
			return false
		case providersim.HTML:
			say("<!doctype html><title>Sign in</title>\r\n")
			return false
		case providersim.EmptyBody:
			return say("%s OK Done.\r\n", tag)
		case providersim.WrongContentType:
			return say("%s BAD Unknown command.\r\n", tag)
		case providersim.WrongType:
			say("* 1 FETCH (UID nonsense FLAGS 7)\r\n")
		case providersim.MissingField:
			say("* 1 FETCH (FLAGS (\\Seen))\r\n* SEARCH\r\n")
		}
	}
	w.mu.Lock()
	w.fate, w.tag = fate, tag
	w.mu.Unlock()
	_, err := io.WriteString(w.server, line)
	return err == nil
}

// passAnswers forwards the server's output as the fate of the command requires.
func (w *wiredConnection) passAnswers() {
	in := bufio.NewReaderSize(w.server, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		w.mu.Lock()
		fate, tag := w.fate, w.tag
		if tag != "" && bytes.HasPrefix(line, []byte(tag+" ")) {
			w.fate, w.tag = providersim.Judgement{}, ""
		}
		w.mu.Unlock()
		n := literalLength(line)
		if bytes.Contains(line, []byte("CAPABILITY ")) {
			for _, name := range w.hidden {
				line = bytes.ReplaceAll(line, []byte(" "+name+" "), []byte(" "))
			}
		}
		switch {
		case fate.Has(providersim.Reset):
			_, _ = w.client.Write(line[:len(line)/2])
			_ = w.client.SetLinger(0)
			return
		case fate.Has(providersim.TruncatedJSON) && n > 0:
			_, _ = w.client.Write(line)
			_, _ = io.CopyN(w.client, in, n/2)
			return
		}
		var to io.Writer = w.client
		if fate.Drip != nil {
			to = &slowWriter{w, *fate.Drip}
		}
		if _, err := to.Write(line); err != nil {
			return
		}
		if _, err := io.CopyN(to, in, n); err != nil {
			return
		}
	}
}

// slowWriter writes a little at a time.
type slowWriter struct {
	w *wiredConnection
	f providersim.Fault
}

func (d *slowWriter) Write(p []byte) (int, error) {
	size, delay := d.f.ChunkBytes, time.Duration(d.f.DelayMS)*time.Millisecond
	if size == 0 {
		size = 64
	}
	if delay == 0 {
		delay = 10 * time.Millisecond
	}
	for from := 0; from < len(p); from += size {
		if !d.w.waitOrEnd(delay) {
			return from, net.ErrClosed
		}
		if _, err := d.w.client.Write(p[from:min(len(p), from+size)]); err != nil {
			return from, err
		}
	}
	return len(p), nil
}

// literalLength returns how many bytes a line announces after it.
func literalLength(line []byte) int64 {
	line = bytes.TrimRight(line, "\r\n")
	open := bytes.LastIndexByte(line, '{')
	if open < 0 || len(line) == 0 || line[len(line)-1] != '}' {
		return 0
	}
	n, err := strconv.ParseInt(string(line[open+1:len(line)-1]), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// gatePath is the path under which a command passes the gate.
func gatePath(command string) (path, pattern string) {
	words := strings.Fields(command)
	name := strings.ToLower(words[0])
	if name == "uid" && len(words) > 1 {
		name, words = strings.ToLower(words[1]), words[1:]
	}
	switch {
	case name == "authenticate":
		return "/login", "/login"
	case name == "fetch" && len(words) > 1 && strings.Contains(command, "BODY.PEEK[]"):
		return "/body/" + words[1], "/body/{set}"
	case name == "fetch" && len(words) > 1:
		return "/fetch/" + words[1], "/fetch/{set}"
	}
	return "/" + name, "/" + name
}
