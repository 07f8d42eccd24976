package codex

import (
	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// toolCall is a call of a tool.
type toolCall struct {
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

// lineSpan is where a line is.
type lineSpan struct {
	Offset int64 `json:"o"`
	Length int64 `json:"l"`
}

// maxPending bounds the calls that wait for their outputs. When there are more, the file is
// read from its beginning the next time.
const maxPending = 24

// startToolCall starts a call. It is emitted with its output, or without when the slice ends first.
func (r *rolloutReader) startToolCall(it *lineItem) {
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
		c.ID = r.derivedKey(it.timestamp, it.itemType, c.Name, c.Arguments)
		emitUpsert(r.f, "function_calls", &c)
		return
	}
	c.ID = r.Session.ID + ":" + c.CallID
	r.calls[c.CallID] = &c
	r.Pending[c.CallID] = lineSpan{r.f.Offset, r.f.Length}
}

// finishToolCall adds the output of a call.
func (r *rolloutReader) finishToolCall(it *lineItem) {
	id := it.call.CallID
	c := r.calls[id]
	at, pending := r.Pending[id]
	if c == nil && pending {
		c = r.rereadToolCall(id, at)
	}
	if c == nil {
		r.f.Skip("output_without_call")
		return
	}
	n := it.output.Total()
	c.Preview, c.Cut, c.Bytes = it.output.Marked(), it.output.Cut(), &n
	emitUpsert(r.f, "function_calls", c)
	delete(r.calls, id)
	delete(r.Pending, id)
}

// rereadToolCall reads a call again when its output arrives in a later run.
func (r *rolloutReader) rereadToolCall(id string, at lineSpan) *toolCall {
	line, err := r.f.Line(at.Offset, at.Length)
	if err != nil {
		return nil
	}
	other := &rolloutReader{f: r.f, keep: r.keep, index: r.index, Session: r.Session, Pending: map[string]lineSpan{},
		calls: map[string]*toolCall{}}
	if other.Line(line) != nil {
		return nil
	}
	return other.calls[id]
}

// State emits the calls that have no output yet.
func (r *rolloutReader) State() any {
	for _, c := range r.calls {
		if !c.brought {
			c.brought = true
			emitUpsert(r.f, "function_calls", c)
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
