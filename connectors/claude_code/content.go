package claudecode

import (
	"fmt"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// messageContent is the content of a message.
type messageContent struct {
	role, id, model string
	text            localfile.Excerpt
	results         int  // outputs of tools in it
	cut             bool // something within it was cut
}

// lineEvent is what a line that is no message holds.
type lineEvent struct {
	kind, hook, toolUse string
	text                localfile.Excerpt
	present             bool
}

func (t *transcript) readMessage(m *messageContent) error {
	s := &t.scan
	m.text.Limit = t.keep.Text
	if s.Kind() != '{' {
		return s.Skip()
	}
	return s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "role":
			m.role, err = s.Text()
		case "id":
			m.id, err = s.Text()
		case "model":
			m.model, err = s.Text()
		case "content":
			err = t.readContent(m)
		default:
			err = s.Skip()
		}
		return err
	})
}

// readContent reads a text, or blocks of text, thoughts, calls of tools and their outputs.
func (t *transcript) readContent(m *messageContent) error {
	s := &t.scan
	switch s.Kind() {
	case '"':
		raw, err := s.Raw()
		if err == nil {
			m.text.Quoted(raw)
		}
		return err
	case '[':
		return s.Array(func() error {
			if s.Kind() != '{' {
				return s.Skip()
			}
			return t.readContentBlock(m)
		})
	}
	return s.Skip()
}

// readContentBlock reads one block. Its members come in any order.
func (t *transcript) readContentBlock(m *messageContent) error {
	s := &t.scan
	var kind, tool string
	input, output := localfile.Excerpt{Limit: t.keep.Output, Sum: true}, localfile.Excerpt{Limit: t.keep.Output, Sum: true}
	if m.text.Total() > 0 {
		m.text.Text("\n")
	}
	err := s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "type":
			kind, err = s.Text()
		case "name":
			tool, err = s.Text()
		case "text", "thinking":
			raw, err := s.Raw()
			if err == nil && raw.Kind() == '"' {
				m.text.Quoted(raw)
			}
			return err
		case "input":
			raw, err := s.Raw()
			if err == nil {
				input.Text(string(raw))
			}
			return err
		case "content":
			err = t.readOutput(&output)
		default:
			err = s.Skip()
		}
		return err
	})
	switch kind {
	case "text", "thinking", "redacted_thinking":
	case "tool_use", "server_tool_use":
		m.text.Text(fmt.Sprintf("[%s: %s] %s", kind, tool, input.Marked()))
		m.cut = m.cut || input.Cut()
	case "tool_result":
		m.results++
		m.text.Text("[tool_result] " + output.Marked())
		m.cut = m.cut || output.Cut()
	default:
		m.text.Text("[" + localfile.LineKind(kind) + "]")
	}
	return err
}

// readOutput reads the output of a tool: a text, or the texts of its blocks.
func (t *transcript) readOutput(e *localfile.Excerpt) error {
	s := &t.scan
	switch s.Kind() {
	case '"':
		raw, err := s.Raw()
		if err == nil {
			e.Quoted(raw)
		}
		return err
	case '[':
		return s.Array(func() error {
			if s.Kind() != '{' {
				return s.Skip()
			}
			return s.Object(func(name []byte) error {
				if string(name) != "text" {
					return s.Skip()
				}
				raw, err := s.Raw()
				if err == nil {
					if e.Total() > 0 {
						e.Text("\n")
					}
					e.Quoted(raw)
				}
				return err
			})
		})
	}
	return s.Skip()
}

func (t *transcript) readAttachment(e *lineEvent) error {
	s := &t.scan
	e.text = localfile.Excerpt{Limit: t.keep.Output, Sum: true}
	e.present = true
	if s.Kind() != '{' {
		return t.readLineContent(e)
	}
	return s.Object(func(name []byte) (err error) {
		switch string(name) {
		case "type":
			e.kind, err = s.Text()
		case "hookName":
			e.hook, err = s.Text()
		case "toolUseID":
			e.toolUse, err = s.Text()
		case "content", "stdout", "stderr":
			raw, err := s.Raw()
			if err == nil && raw.Kind() != 'n' {
				if e.text.Total() > 0 {
					e.text.Text("\n")
				}
				e.text.Quoted(raw)
			}
			return err
		default:
			err = s.Skip()
		}
		return err
	})
}

// readLineContent reads the content of a line that is no message.
func (t *transcript) readLineContent(e *lineEvent) error {
	raw, err := t.scan.Raw()
	if err != nil || raw.Kind() == 'n' {
		return err
	}
	if !e.present {
		e.text = localfile.Excerpt{Limit: t.keep.Output, Sum: true}
		e.present = true
	}
	e.text.Quoted(raw)
	return nil
}
