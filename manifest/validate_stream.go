package manifest

import (
	"slices"
	"strings"
)

func (ps *Problems) checkStreams(streams []Stream) {
	seen := map[string]bool{}
	for i := range streams {
		s := &streams[i]
		path := elementPath("streams", i)
		ps.rejectRepeated(seen, path+".name", s.Name)
		ps.checkCoverage(path, s)
		ps.checkRelationships(path, s, streams)
		ps.checkSchema(path, s)
	}
}

// checkCoverage rejects a required stream that cannot be collected, because it would degrade the connection
// forever.
func (ps *Problems) checkCoverage(path string, s *Stream) {
	policy := s.Policy()
	if (policy == PolicyUnsupported || policy == PolicyUnavailable) && s.IsRequired() {
		ps.add(path+".required", "is not false although coverage_policy is "+string(policy),
			`add "required": false, or choose another coverage_policy`)
	}
}

// checkRelationships checks that relationships refer to existing streams, and expansions to existing
// relationships.
func (ps *Problems) checkRelationships(path string, s *Stream, streams []Stream) {
	names := map[string]bool{}
	for i, r := range s.Relationships {
		at := elementPath(path+".relationships", i)
		ps.rejectRepeated(names, at+".name", r.Name)
		if r.Stream != "" && !slices.ContainsFunc(streams, func(other Stream) bool { return other.Name == r.Stream }) {
			ps.add(at+".stream", quoteShort(r.Stream)+" is not a stream of this manifest", "name a declared stream")
		}
	}
	if s.Query == nil {
		return
	}
	for i, e := range s.Query.Expand {
		if e.Name != "" && !names[e.Name] {
			ps.add(
				elementPath(path+".query.expand", i)+".name",
				quoteShort(e.Name)+" is not a relationship of this stream",
				"name a declared relationship",
			)
		}
		for n, r := range s.Relationships {
			if r.Name == e.Name && !followable(s, r, streams) {
				ps.add(
					elementPath(path+".relationships", n)+".foreign_key",
					quoteShort(r.ForeignKey)+" is a field of neither stream that could be followed",
					"name a field of this stream that holds the other's key, or one of the other stream that holds this one's",
				)
			}
		}
	}
}

// followable reports whether the foreign key is a field of the stream that must have it. It returns true for an
// unknown stream, which is reported elsewhere.
func followable(s *Stream, r Relationship, streams []Stream) bool {
	if !r.InOther(s) {
		return true
	}
	i := slices.IndexFunc(streams, func(o Stream) bool { return o.Name == r.Stream })
	return i < 0 || streams[i].HasField(r.ForeignKey)
}

// checkSchema checks the record schema, and that every field that the stream names is one of its properties.
func (ps *Problems) checkSchema(path string, s *Stream) {
	if len(s.Schema) == 0 {
		return
	}
	if !soundSchema(s.Schema) {
		if _, err := compileSchema(s.Schema); err != nil {
			ps.add(
				path+".schema",
				"does not compile: "+strings.Join(strings.Fields(err.Error()), " "),
				"write a self-contained JSON Schema",
			)
			return
		}
	}
	outline, err := readOutline(s.Schema)
	if err != nil {
		ps.add(path+".schema", "does not describe an object", "make it a schema with type object and properties")
		return
	}
	if outline.kind != "object" {
		ps.add(path+".schema.type", `is not "object"`, `set it to "object": every record is an object`)
	}
	known := func(at, name string) {
		if _, ok := outline.properties[name]; !ok && name != "" {
			ps.add(at, quoteShort(name)+" is not in schema.properties", "name a property of the schema or add it there")
		}
	}
	knownAll := func(at string, names []string) {
		for i, name := range names {
			known(elementPath(at, i), name)
		}
	}
	knownAll(path+".schema.required", outline.required)
	knownAll(path+".primary_key", s.PrimaryKey)
	known(path+".cursor_field", s.CursorField)
	known(path+".consent_time_field", s.ConsentTimeField)
	if s.Selection != nil {
		known(path+".selection.resource_field", s.Selection.ResourceField)
	}
	views := map[string]bool{}
	for i, v := range s.Views {
		at := elementPath(path+".views", i)
		ps.rejectRepeated(views, at+".id", v.ID)
		knownAll(at+".fields", v.Fields)
	}
	if q := s.Query; q != nil {
		q.eachField(path+".query", known)
	}
	ps.checkDisplay(path, s, known)
}
