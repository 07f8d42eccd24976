package mcp

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/pdpp-go/pdpp/internal/share/readapi/grantview"
)

const (
	// usualWindow and maxWindow are lengths of a part of a long field, in characters.
	usualWindow = 8000
	maxWindow   = 12000
)

type (
	recordArguments struct {
		Stream     string `json:"stream" jsonschema:"name of the stream"`
		ID         string `json:"id" jsonschema:"id of the record"`
		Connection string `json:"connection_id,omitempty" jsonschema:"needed if several connections have the id"`
		Field      string `json:"field,omitempty" jsonschema:"reads only this field, in parts if it is long"`
		Offset     int    `json:"offset,omitempty" jsonschema:"where the part begins, in characters"`
		Length     int    `json:"length,omitempty" jsonschema:"characters of the part, 8000 if left out, up to 12000"`
		Versions   bool   `json:"versions,omitempty" jsonschema:"also earlier versions; only for the owner"`
	}
	recordAnswer struct {
		Record   record     `json:"record"`
		Part     *fieldPart `json:"part,omitempty"`
		Versions []Version  `json:"versions,omitempty"`
		Coverage []Coverage `json:"coverage"`
		Missing  []Missing  `json:"missing,omitempty"`
	}
	// fieldPart is a part of a long field.
	fieldPart struct {
		Field  string `json:"field"`
		Offset int    `json:"offset"`
		Length int    `json:"length"`
		Total  int    `json:"total" jsonschema:"length of the whole field"`
		Text   string `json:"text"`
	}
)

func (t *tools) getRecord(ctx context.Context, in recordArguments) (out toolAnswer[recordAnswer], err error) {
	path, err := streamPath(in.Stream, "/records/"+url.PathEscape(in.ID))
	if err != nil {
		return out, err
	}
	if in.ID == "" || in.Offset < 0 || in.Length < 0 {
		return out, invalidArgument("The id is missing, or offset or length is below zero.")
	}
	if in.Versions && t.Owner == nil {
		return out, invalidArgument("Earlier versions are for the owner only.")
	}
	q := url.Values{}
	put(q, "connection_id", in.Connection, "fields", in.Field)
	var found grantview.RecordAnswer
	if err := t.Reader.Get(ctx, path, q, &found); err != nil {
		return out, err
	}
	covered, missing, sentence, err := t.known(ctx, found.Completeness)
	if err != nil {
		return out, err
	}
	var versions []Version
	if in.Versions {
		if versions, err = t.Owner.Versions(ctx, found.ConnectionID, found.Stream, found.ID); err != nil {
			return out, err
		}
	}
	part := partOf(found.Data, in)
	if part != nil {
		found.Data = json.RawMessage("{}")
	}
	out.out = fitted(func(length int) recordAnswer {
		return recordAnswer{Record: recordOf(found.Record, 2*length), Part: part, Versions: versionsOf(versions, length),
			Coverage: covered, Missing: missing}
	})
	out.sentence = "The record as it is held. " + sentence
	return out, nil
}

// partOf returns the part of a field that the arguments ask for; nil if they name no field.
func partOf(data json.RawMessage, in recordArguments) *fieldPart {
	if in.Field == "" {
		return nil
	}
	p := &fieldPart{Field: in.Field, Offset: in.Offset}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields[in.Field] == nil {
		return p
	}
	whole, _ := fieldText(fields[in.Field])
	runes := []rune(whole)
	length := in.Length
	if length == 0 {
		length = usualWindow
	}
	from := min(in.Offset, len(runes))
	runes, p.Total = runes[from:min(from+min(length, maxWindow), len(runes))], len(runes)
	const besides = 12 << 10 // for coverage
	for contentSize(string(runes)) > maxContent-besides {
		runes = runes[:len(runes)/2]
	}
	p.Offset, p.Length, p.Text = from, len(runes), string(runes)
	return p
}

// versionsOf returns earlier versions with their fields cut.
func versionsOf(all []Version, length int) []Version {
	out := make([]Version, 0, len(all))
	for _, v := range all {
		if body, err := json.Marshal(v.Data); err == nil {
			v.Data, _ = cutData(body, length/4)
		}
		out = append(out, v)
	}
	return out
}
