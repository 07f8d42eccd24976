package foreign

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// singerDialect is version 0.3 of the Singer specification, including common deviations of its taps.
type singerDialect struct{}

func (singerDialect) arguments(a *Adapter, config, catalog, state string) []string {
	args := []string{"--config", config}
	flags := a.CatalogFlags
	if len(flags) == 0 {
		flags = []string{"--catalog"}
	}
	for _, flag := range flags {
		args = append(args, flag, catalog)
	}
	if state != "" {
		args = append(args, "--state", state)
	}
	return args
}

// catalog sets "selected" in every place where taps look for it: the metadata of the stream and of its fields
// and, for older taps, the stream and its schema.
func (singerDialect) catalog(a *Adapter, selected []string) (jsontext.Value, error) {
	streams := []map[string]any{}
	for _, s := range a.Streams {
		var entry map[string]any
		if err := json.Unmarshal(s.Entry, &entry); err != nil {
			return nil, err
		}
		chosen := slices.Contains(selected, s.Name)
		entry["selected"] = chosen
		if schema, ok := entry["schema"].(map[string]any); ok {
			schema["selected"] = chosen
		}
		notes, _ := entry["metadata"].([]any)
		root := false
		for _, n := range notes {
			note, ok := n.(map[string]any)
			if !ok {
				continue
			}
			inner, ok := note["metadata"].(map[string]any)
			if !ok {
				continue
			}
			crumbs, _ := note["breadcrumb"].([]any)
			root = root || len(crumbs) == 0
			inner["selected"] = chosen && inner["inclusion"] != "unsupported"
		}
		if !root {
			notes = append(notes, map[string]any{"breadcrumb": []any{}, "metadata": map[string]any{"selected": chosen}})
		}
		entry["metadata"] = notes
		streams = append(streams, entry)
	}
	return encodeJSON(map[string]any{"streams": streams}), nil
}

func (singerDialect) state(marks []streamBookmark) jsontext.Value {
	if m, ok := oldestState(marks); ok {
		return m.State
	}
	return nil
}

func (singerDialect) read(line []byte) (tapEvent, error) {
	var m struct {
		Type     string         `json:"type"`
		Stream   string         `json:"stream"`
		Schema   jsontext.Value `json:"schema"`
		Record   jsontext.Value `json:"record"`
		Value    jsontext.Value `json:"value"`
		Version  *int64         `json:"version"`
		Encoding struct {
			Format      string `json:"format"`
			Compression string `json:"compression"`
		} `json:"encoding"`
		Manifest []string `json:"manifest"`
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return textEvent(line)
	}
	e := tapEvent{stream: m.Stream, version: m.Version}
	switch strings.ToUpper(m.Type) {
	case "SCHEMA":
		e.kind, e.data = eventSchema, m.Schema
	case "RECORD":
		e.kind, e.data = eventRecord, m.Record
	case "STATE":
		e.kind, e.data, e.form = eventState, m.Value, formWhole
	case "ACTIVATE_VERSION":
		e.kind = eventActivate
	case "BATCH":
		e.kind = eventBatch
		e.batch = fileBatch{
			format:      strings.ToLower(m.Encoding.Format),
			compression: strings.ToLower(m.Encoding.Compression),
			files:       m.Manifest,
		}
	case "":
		return textEvent(line)
	default:
		return tapEvent{kind: eventNote, text: "message of type " + m.Type}, nil
	}
	return e, nil
}
