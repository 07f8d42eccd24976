package notion

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// propertyValue returns the type of a property and its value in plain JSON: texts, numbers, names of options, ids of
// pages and people. Nil is an empty one. Files have their names only: their addresses are good for an hour.
func propertyValue(raw jsontext.Value) (kind string, value any) {
	var w map[string]jsontext.Value
	if json.Unmarshal(raw, &w) != nil || json.Unmarshal(w["type"], &kind) != nil {
		return "", nil
	}
	return kind, plainValue(kind, w[kind])
}

func plainValue(kind string, body jsontext.Value) any {
	switch kind {
	case "title", "rich_text":
		var text richTextPieces
		if json.Unmarshal(body, &text) == nil && text.String() != "" {
			return text.String()
		}
		return nil
	case "select", "status", "multi_select", "people", "relation", "files", "created_by", "last_edited_by":
		return nameOrID(body)
	case "formula", "rollup":
		if inner, value := propertyValue(body); inner != "array" || value != nil {
			return value
		}
		return nil
	case "array": // of a rollup
		var elements []jsontext.Value
		var out []any
		if json.Unmarshal(body, &elements) == nil {
			for _, element := range elements {
				if _, value := propertyValue(element); value != nil {
					out = append(out, value)
				}
			}
		}
		if out == nil {
			return nil
		}
		return out
	case "unique_id":
		var id struct {
			Prefix *string `json:"prefix"`
			Number *int64  `json:"number"`
		}
		if json.Unmarshal(body, &id) != nil || id.Number == nil {
			return nil
		}
		if id.Prefix == nil {
			return strconv.FormatInt(*id.Number, 10)
		}
		return *id.Prefix + "-" + strconv.FormatInt(*id.Number, 10)
	case "button":
		return nil
	}
	var value any // a date, a number, a text, a truth value, a place, or a type that is not known yet
	if json.Unmarshal(body, &value) != nil {
		return nil
	}
	if object, is := value.(map[string]any); is {
		for name, member := range object {
			if member == nil {
				delete(object, name)
			}
		}
	}
	return value
}

// nameOrID returns the name of an option or a file, or the id of a page or a person; of several, a list.
func nameOrID(body jsontext.Value) any {
	if body.Kind() == '[' {
		var elements []jsontext.Value
		if json.Unmarshal(body, &elements) != nil || len(elements) == 0 {
			return nil
		}
		out := []any{}
		for _, element := range elements {
			if name := nameOrID(element); name != nil {
				out = append(out, name)
			}
		}
		return out
	}
	var w struct {
		Object string `json:"object"`
		ID     string `json:"id"`
		Name   string `json:"name"`
	}
	switch {
	case json.Unmarshal(body, &w) != nil:
		return nil
	case w.Object == "user":
		return canonicalID(w.ID)
	case w.Name != "":
		return w.Name
	case w.ID != "":
		return canonicalID(w.ID)
	}
	return nil
}
