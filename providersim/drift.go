package providersim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Drifted is how the answers of a provider have changed since a connector was written. Paths name
// members as in "entries/[]/author"; "[]" is every element of a list and "*" every member of an
// object.
type Drifted struct {
	// Route is the end of the path of the requests that are affected, as in "repos/*/*/issues";
	// empty means all.
	Route string `json:"route,omitempty"`
	// Add are objects that get a new member; "." is the answer itself.
	Add []string `json:"add,omitempty"`
	// Remove are members that are left out.
	Remove []string `json:"remove,omitempty"`
	// Retype are members that get a value of another type.
	Retype []string `json:"retype,omitempty"`
	// Items bounds the list of the answer, whatever the request asks for; zero leaves it.
	Items int `json:"items,omitempty"`
	// Total is added to the numbers of how many things there are.
	Total int `json:"total,omitempty"`
	// Raise are members with numbers that Total is added to as well.
	Raise []string `json:"raise,omitempty"`
}

// DriftedMember is the name of a member that a drifting provider adds.
const DriftedMember = "since_drifted"

// totalNames are the members with the number of things.
var totalNames = []string{"total", "total_count", "totalItems", "totalPeople"}

func (d *Drifted) appliesTo(r *http.Request) bool {
	if d == nil || d.Route == "" || d.Route == "**" {
		return true
	}
	want, path := strings.Split(strings.Trim(d.Route, "/"), "/"), strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(path) < len(want) {
		return false
	}
	path = path[len(path)-len(want):]
	for i := range want {
		if want[i] != "*" && want[i] != path[i] {
			return false
		}
	}
	return true
}

// applyDrift changes the answer. One that is neither JSON, XML nor a calendar stays as it is.
func (a *heldAnswer) applyDrift(d *Drifted) {
	if a.status < 200 || a.status >= 300 || d == nil {
		return
	}
	if n, err := strconv.Atoi(a.header.Get("X-Total-Count")); err == nil && d.Total != 0 {
		a.header.Set("X-Total-Count", strconv.Itoa(n+d.Total))
	}
	body := bytes.TrimSpace(a.body.Bytes())
	switch {
	case len(body) == 0:
	case body[0] == '<':
		for _, path := range d.Remove { // elements without elements in them
			name := `(\w+:)?` + regexp.QuoteMeta(path[strings.LastIndex(path, "/")+1:])
			body = regexp.MustCompile(`<`+name+`\b[^>]*(/>|>[^<]*</`+name+`>)`).ReplaceAll(body, nil)
		}
		if at := bytes.LastIndex(body, []byte("</")); at > 0 && len(d.Add) > 0 {
			body = slices.Concat(body[:at], []byte("<"+DriftedMember+">1</"+DriftedMember+">"), body[at:])
		}
		a.replaceBody(body)
	case bytes.HasPrefix(body, []byte("BEGIN:V")):
		for _, path := range d.Remove { // properties in one line
			name := regexp.QuoteMeta(path[strings.LastIndex(path, "/")+1:])
			body = regexp.MustCompile(`(?m)^`+name+`[:;].*\r?\n`).ReplaceAll(body, nil)
		}
		if at := bytes.IndexByte(body, '\n'); at > 0 && len(d.Add) > 0 {
			body = slices.Concat(body[:at+1], []byte("X-SINCE-DRIFTED:1\r\n"), body[at+1:])
		}
		a.replaceBody(body)
	case body[0] == '{' || body[0] == '[':
		if changed := d.Document(body); changed != nil {
			a.replaceBody(changed)
		}
	}
}

// Document returns the changed form of a JSON document; nil when it is not JSON.
func (d *Drifted) Document(body []byte) []byte {
	var top any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&top) != nil {
		return nil
	}
	return EncodeJSON(d.changeDocument(top))
}

func (a *heldAnswer) replaceBody(body []byte) {
	body = slices.Clone(body)
	a.body.Reset()
	a.body.Write(body)
	a.header.Del("Content-Length")
	a.header.Del("Etag") // it is another answer
}

func (d *Drifted) changeDocument(top any) any {
	for _, path := range d.Add {
		eachAtPath(top, pathSteps(path), func(_ map[string]any, _ string, v any) {
			if object, ok := v.(map[string]any); ok {
				object[DriftedMember] = "new"
			}
		})
	}
	for _, path := range d.Remove {
		eachAtPath(top, pathSteps(path), func(in map[string]any, name string, _ any) { delete(in, name) })
	}
	for _, path := range d.Retype {
		eachAtPath(top, pathSteps(path), func(in map[string]any, name string, v any) {
			if _, isNumber := v.(json.Number); isNumber {
				in[name] = "forty-two"
			} else {
				in[name] = 42
			}
		})
	}
	for _, path := range d.Raise {
		eachAtPath(top, pathSteps(path), func(in map[string]any, name string, v any) {
			if n, isNumber := v.(json.Number); isNumber {
				number, _ := n.Int64() // it counts things
				in[name] = number + int64(d.Total)
			} else if n, err := strconv.Atoi(fmt.Sprint(v)); err == nil {
				in[name] = strconv.Itoa(n + d.Total) // some write counts as texts
			}
		})
	}
	if object, ok := top.(map[string]any); ok {
		for name, v := range object {
			if n, ok := v.(json.Number); ok && slices.Contains(totalNames, name) && d.Total != 0 {
				total, _ := n.Int64() // a total is a whole number
				object[name] = total + int64(d.Total)
			}
			if list, ok := v.([]any); ok && d.Items > 0 && len(list) > d.Items {
				object[name] = list[:d.Items]
			}
		}
	}
	if list, ok := top.([]any); ok && d.Items > 0 && len(list) > d.Items {
		return list[:d.Items]
	}
	return top
}

func pathSteps(path string) []string {
	if path == "." || path == "" {
		return nil
	}
	out := strings.Split(path, "/")
	for i := range out {
		out[i] = strings.ReplaceAll(strings.ReplaceAll(out[i], "~1", "/"), "~0", "~")
	}
	return out
}

// eachAtPath calls do for every value at the path, with the object that holds it.
func eachAtPath(v any, path []string, do func(in map[string]any, name string, v any)) {
	walkPath(nil, "", v, path, do)
}

func walkPath(in map[string]any, name string, v any, path []string, do func(map[string]any, string, any)) {
	if len(path) == 0 {
		do(in, name, v)
		return
	}
	switch v := v.(type) {
	case []any:
		if path[0] == "[]" {
			for _, e := range v {
				walkPath(in, name, e, path[1:], do)
			}
		}
	case map[string]any:
		for key, m := range v {
			if path[0] == key || path[0] == "*" {
				walkPath(v, key, m, path[1:], do)
			}
		}
	}
}
