package foreign

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// airbyteDialect is version 0 of the Airbyte protocol.
type airbyteDialect struct{}

func (airbyteDialect) arguments(_ *Adapter, config, catalog, state string) []string {
	args := []string{"read", "--config", config, "--catalog", catalog}
	if state != "" {
		args = append(args, "--state", state)
	}
	return args
}

// catalog returns the configured catalog: the selected streams, incremental if the source supports it.
func (airbyteDialect) catalog(a *Adapter, selected []string) (jsontext.Value, error) {
	type configured struct {
		Stream      jsontext.Value `json:"stream"`
		SyncMode    string         `json:"sync_mode"`
		Destination string         `json:"destination_sync_mode"`
		CursorField []string       `json:"cursor_field,omitempty"`
		PrimaryKey  [][]string     `json:"primary_key,omitempty"`
	}
	streams := []configured{}
	for _, s := range a.Streams {
		if !slices.Contains(selected, s.Name) {
			continue
		}
		var entry airbyteStream
		if err := json.Unmarshal(s.Entry, &entry); err != nil {
			return nil, err
		}
		c := configured{
			Stream:      s.Entry,
			SyncMode:    "full_refresh",
			Destination: "append",
			CursorField: entry.CursorField,
			PrimaryKey:  entry.PrimaryKey,
		}
		if slices.Contains(entry.SyncModes, "incremental") {
			c.SyncMode = "incremental"
		}
		if len(entry.PrimaryKey) > 0 {
			c.Destination = "append_dedup"
		}
		streams = append(streams, c)
	}
	return encodeJSON(map[string]any{"streams": streams}), nil
}

// airbyteStream is a stream of a source's catalog.
type airbyteStream struct {
	Name        string         `json:"name"`
	Namespace   string         `json:"namespace"`
	Schema      jsontext.Value `json:"json_schema"`
	SyncModes   []string       `json:"supported_sync_modes"`
	CursorField []string       `json:"default_cursor_field"`
	PrimaryKey  [][]string     `json:"source_defined_primary_key"`
}

// qualifiedName returns the name of a stream with its namespace.
func qualifiedName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}

func (airbyteDialect) state(marks []streamBookmark) jsontext.Value {
	if slices.ContainsFunc(marks, func(m streamBookmark) bool { return m.Form == formWhole || m.Form == formLegacy }) {
		m, ok := oldestState(marks)
		switch {
		case !ok:
			return nil
		case m.Form == formLegacy:
			return m.State
		}
		return encodeJSON([]jsontext.Value{m.State})
	}
	var all []jsontext.Value
	for _, m := range marks {
		if m.Form == formStream {
			all = append(all, m.State)
		}
	}
	if all == nil {
		return nil
	}
	return encodeJSON(all)
}

// airbyteMessage is the part of a source's line that is used.
type airbyteMessage struct {
	Type   string `json:"type"`
	Record struct {
		Stream    string         `json:"stream"`
		Namespace string         `json:"namespace"`
		Data      jsontext.Value `json:"data"`
	} `json:"record"`
	State   jsontext.Value `json:"state"`
	Log     airbyteLog     `json:"log"`
	Trace   airbyteTrace   `json:"trace"`
	Control struct {
		Type   string `json:"type"`
		Config struct {
			Config jsontext.Value `json:"config"`
		} `json:"connectorConfig"`
	} `json:"control"`
	Spec struct {
		Specification jsontext.Value `json:"connectionSpecification"`
	} `json:"spec"`
	Catalog struct {
		Streams []jsontext.Value `json:"streams"`
	} `json:"catalog"`
	Status struct {
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"connectionStatus"`
}

type airbyteLog struct {
	Level   string `json:"level"`
	Message string `json:"message"`
}

type descriptor struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func (d descriptor) called() string { return qualifiedName(d.Namespace, d.Name) }

type airbyteTrace struct {
	Type  string `json:"type"`
	Error struct {
		Message string     `json:"message"`
		Failure string     `json:"failure_type"`
		Stream  descriptor `json:"stream_descriptor"`
	} `json:"error"`
	Status struct {
		Stream  descriptor `json:"stream_descriptor"`
		Status  string     `json:"status"`
		Reasons []struct {
			Type        string `json:"type"`
			RateLimited struct {
				Reset int64 `json:"quota_reset"` // milliseconds since 1970
			} `json:"rate_limited"`
		} `json:"reasons"`
	} `json:"stream_status"`
}

type airbyteState struct {
	Type   string `json:"type"`
	Stream struct {
		Descriptor descriptor `json:"stream_descriptor"`
	} `json:"stream"`
	Data  jsontext.Value `json:"data"`
	Stats struct {
		// The protocol spells a count as a float.
		Count *float64 `json:"recordCount"`
	} `json:"sourceStats"`
}

func (airbyteDialect) read(line []byte) (tapEvent, error) {
	var m airbyteMessage
	if err := json.Unmarshal(line, &m); err != nil || m.Type == "" {
		return textEvent(line)
	}
	switch m.Type {
	case "RECORD":
		return tapEvent{
			kind:   eventRecord,
			stream: qualifiedName(m.Record.Namespace, m.Record.Stream),
			data:   m.Record.Data,
		}, nil
	case "STATE":
		return readState(m.State)
	case "LOG":
		return tapEvent{kind: eventNote, text: m.Log.Level + " " + m.Log.Message}, nil
	case "TRACE":
		return m.Trace.event(), nil
	case "CONTROL":
		return tapEvent{kind: eventControl, data: m.Control.Config.Config}, nil
	}
	return tapEvent{kind: eventNote, text: "message of type " + m.Type}, nil
}

func readState(raw jsontext.Value) (tapEvent, error) {
	var s airbyteState
	if err := json.Unmarshal(raw, &s); err != nil {
		return tapEvent{}, errBroken
	}
	e := tapEvent{kind: eventState, data: raw, form: formWhole}
	switch s.Type {
	case "STREAM":
		e.form, e.stream = formStream, s.Stream.Descriptor.called()
	case "GLOBAL":
	default:
		e.form, e.data = formLegacy, s.Data
	}
	if s.Stats.Count != nil {
		n := int64(*s.Stats.Count)
		e.counted = &n
	}
	return e, nil
}

func (t airbyteTrace) event() tapEvent {
	switch t.Type {
	case "ERROR":
		return tapEvent{kind: eventTrouble, stream: t.Error.Stream.called(), class: t.Error.Failure, text: t.Error.Message}
	case "STREAM_STATUS":
		e := tapEvent{kind: eventStatus, stream: t.Status.Stream.called(), status: t.Status.Status}
		for _, r := range t.Status.Reasons {
			if r.Type == "RATE_LIMITED" && r.RateLimited.Reset > 0 {
				e.wait = time.Until(time.UnixMilli(r.RateLimited.Reset))
			}
		}
		return e
	}
	return tapEvent{kind: eventNote, text: "trace of type " + t.Type}
}
