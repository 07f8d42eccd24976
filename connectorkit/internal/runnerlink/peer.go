package runnerlink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"github.com/pdpp-go/pdpp/protocol"
)

// errRunnerGone means that stdin ended before DONE.
var errRunnerGone = errors.New("the runner closed stdin before the run ended")

// RunnerPeer is the connection to the runner. One goroutine reads stdin. An unexpected message ends the run.
type RunnerPeer struct {
	Started chan *protocol.Start // receives the first message

	mu           sync.Mutex
	shareHandler func(*protocol.AllowanceShare) bool // reports whether the share belongs to a requested quota
	asked        int
	pending      string // request id that the reply must have
	kind         protocol.MessageType
	answer       chan protocol.Message
}

// NewRunnerPeer reads stdin until it ends or a message violates a rule, and then ends the run.
func NewRunnerPeer(stdin io.Reader, end func(error)) *RunnerPeer {
	p := &RunnerPeer{Started: make(chan *protocol.Start, 1), answer: make(chan protocol.Message, 1)}
	go func() { end(p.readMessages(stdin)) }()
	return p
}

func (p *RunnerPeer) readMessages(stdin io.Reader) error {
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
			p.Started <- start
		case first:
			return errors.New("the first message must be START, not " + string(m.Type()))
		case isStart:
			return errors.New("a run has one START")
		case !p.deliverReply(m):
			return errors.New("unsolicited " + string(m.Type()))
		}
	}
}

// deliverReply passes the message to the caller that waits for it.
func (p *RunnerPeer) deliverReply(m protocol.Message) bool {
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
		if hear := p.currentShareHandler(); hear == nil || !hear(m) {
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

// HandleShares sets the function that processes shares of quotas.
func (p *RunnerPeer) HandleShares(heard func(*protocol.AllowanceShare) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shareHandler = heard
}

func (p *RunnerPeer) currentShareHandler() func(*protocol.AllowanceShare) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shareHandler
}

// RequestReply sends a request with a fresh id and waits for its reply. The caller serializes requests: the output lock
// does so for interactions, and one goroutine requests gap pages.
func (p *RunnerPeer) RequestReply(
	ctx context.Context,
	want protocol.MessageType,
	send func(id string) error,
) (protocol.Message, error) {
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
