package connectorkit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"pdpp/protocol"
)

// errRunnerGone means that stdin ended before DONE: nobody listens any more.
var errRunnerGone = errors.New("the runner closed stdin before the run ended")

// peer is the runner's side of the conversation. One goroutine reads stdin; a
// message that nothing asked for ends the run, fail closed.
type peer struct {
	started chan *protocol.Start

	mu      sync.Mutex
	heard   func(*protocol.AllowanceShare) bool // reports whether a share is of an allowance that was asked for
	asked   int
	pending string // request id that an answer must carry
	kind    protocol.MessageType
	answer  chan protocol.Message
}

// newPeer reads stdin until it ends or breaks a rule, and ends the run then.
func newPeer(stdin io.Reader, end func(error)) *peer {
	p := &peer{started: make(chan *protocol.Start, 1), answer: make(chan protocol.Message, 1)}
	go func() { end(p.read(stdin)) }()
	return p
}

func (p *peer) read(stdin io.Reader) error {
	lines, dec := protocol.NewLineReader(stdin, 0), protocol.NewDecoder(protocol.ToConnector)
	for first := true; ; first = false {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return errRunnerGone
		}
		if err != nil {
			return err
		}
		m, err := dec.Decode(bytes.Clone(line)) // raw values alias the line and outlive it
		if err != nil {
			return err
		}
		start, isStart := m.(*protocol.Start)
		switch {
		case first && isStart:
			p.started <- start
		case first:
			return errors.New("the first message must be START, not " + string(m.Type()))
		case isStart:
			return errors.New("a run has one START")
		case !p.deliver(m):
			return errors.New("unsolicited " + string(m.Type()))
		}
	}
}

// deliver hands the message to whoever asked for it.
func (p *peer) deliver(m protocol.Message) bool {
	var id string
	switch m := m.(type) {
	case *protocol.InteractionResponse:
		id = m.RequestID
	case *protocol.DetailGapsPageResponse:
		id = m.RequestID
	case *protocol.CredentialResponse:
		id = m.RequestID
	case *protocol.WalkMissing:
		id = m.RequestID
	case *protocol.AllowanceShare:
		if hear := p.hearing(); hear == nil || !hear(m) {
			return false
		}
		if id = m.RequestID; id == "" {
			return true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == "" || id != p.pending || m.Type() != p.kind {
		return false
	}
	p.pending = ""
	p.answer <- m
	return true
}

// hear has shares of allowances taken in.
func (p *peer) hear(heard func(*protocol.AllowanceShare) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = heard
}

func (p *peer) hearing() func(*protocol.AllowanceShare) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard
}

// ask sends a request under a fresh id and waits for its answer. The caller
// serializes requests: the output lock does for interactions, and gap pages are
// requested by one goroutine.
func (p *peer) ask(ctx context.Context, want protocol.MessageType, send func(id string) error) (protocol.Message, error) {
	p.mu.Lock()
	p.asked++
	id := "q" + strconv.Itoa(p.asked)
	p.pending, p.kind = id, want
	p.mu.Unlock()
	if err := send(id); err != nil {
		return nil, err
	}
	select {
	case m := <-p.answer:
		return m, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
