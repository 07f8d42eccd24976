package codex

import (
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// call is a call of a tool.
type call struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	CallID    string `json:"call_id,omitzero"`
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments,omitzero"`
	ArgsCut   bool   `json:"arguments_cut,omitzero"`
	Preview   string `json:"output_preview,omitzero"`
	Bytes     *int64 `json:"output_bytes,omitzero"`
	Cut       bool   `json:"output_cut,omitzero"`
	Timestamp string `json:"timestamp,omitzero"`
	arguments localfile.Excerpt
	brought   bool
}

// span is where a line is.
type span struct {
	Offset int64 `json:"o"`
	Length int64 `json:"l"`
}

// maxPending bounds the calls that wait for their outputs. When there are more, the file is
// read from its beginning the next time.
const maxPending = 24

// called takes a call. It is brought with its output, or without when the slice is closed
// before that comes.
func (r *rollout) called(it *item) {
	c := it.call
	c.SessionID, c.Timestamp = r.Session.ID, it.timestamp
	c.Arguments, c.ArgsCut = c.arguments.Marked(), c.arguments.Cut()
	c.arguments = localfile.Excerpt{}
	if c.Name == "" {
		c.Name = it.itemType
	}
	if c.CallID == "" {
		c.CallID = it.id
	}
	if r.calls[c.CallID] == nil || c.CallID == "" {
		r.Calls++
	}
	if c.CallID == "" {
		c.ID = r.key(it.timestamp, it.itemType, c.Name, c.Arguments)
		upsert(r.f, "function_calls", &c)
		return
	}
	c.ID = r.Session.ID + ":" + c.CallID
	r.calls[c.CallID] = &c
	r.Pending[c.CallID] = span{r.f.Offset, r.f.Length}
}

// answered takes the output of a call.
func (r *rollout) answered(it *item) {
	id := it.call.CallID
	c := r.calls[id]
	at, pending := r.Pending[id]
	if c == nil && pending {
		c = r.again(id, at)
	}
	if c == nil {
		r.f.Skip("output_without_call")
		return
	}
	n := it.output.Total()
	c.Preview, c.Cut, c.Bytes = it.output.Marked(), it.output.Cut(), &n
	upsert(r.f, "function_calls", c)
	delete(r.calls, id)
	delete(r.Pending, id)
}

// again reads a call once more whose output comes in a later run.
func (r *rollout) again(id string, at span) *call {
	line, err := r.f.Line(at.Offset, at.Length)
	if err != nil {
		return nil
	}
	other := &rollout{f: r.f, keep: r.keep, index: r.index, Session: r.Session, Pending: map[string]span{}, calls: map[string]*call{}}
	if other.Line(line) != nil {
		return nil
	}
	return other.calls[id]
}

// State brings the calls that have no output yet.
func (r *rollout) State() any {
	for _, c := range r.calls {
		if !c.brought {
			c.brought = true
			upsert(r.f, "function_calls", c)
		}
	}
	if len(r.Pending) > maxPending {
		return localfile.ErrNotResumable
	}
	if len(r.Pending) > 0 && !r.f.Seekable() {
		return localfile.ErrNotResumable // a call could not be read again
	}
	return r
}
