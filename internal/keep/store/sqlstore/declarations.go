package sqlstore

import (
	"database/sql"
	"sync"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/manifest"
)

// generation names one manifest. Its body never changes.
type generation struct {
	connectorID string
	number      int64
}

// declaration is what a manifest says of its streams. It is shared and not changed.
type declaration struct {
	streams []evidence.Stream
	places  map[string]int        // of the streams by name
	keys    map[string][]fieldKey // to index, by stream
	refresh *manifest.RefreshPolicy
	// profiles are the names of the streams that each profile collects.
	profiles map[string]map[string]bool
	bad      bool // the manifest cannot be read
}

// maxDeclarations bounds what is remembered. There are about as many manifests
// as connectors, so the bound is there for the unforeseen.
const maxDeclarations = 512

// declarations remembers manifests that were read once.
type declarations struct {
	mu    sync.Mutex
	known map[generation]*declaration
}

func (d *declarations) get(of generation) *declaration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[of]
}

func (d *declarations) put(of generation, read *declaration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= maxDeclarations {
		d.known = make(map[generation]*declaration)
	}
	d.known[of] = read
}

// declareKnown gives every connection what its manifest declares, and tells
// whether all manifests were known already.
func (p *page) declareKnown() bool {
	seen := make(map[generation]*declaration)
	all := true
	for i := range p.made {
		of := p.made[i].of
		d, asked := seen[of]
		if !asked {
			d = p.known.get(of)
			seen[of] = d
		}
		p.declare(i, d)
		all = all && d != nil
	}
	return all
}

// declare hands a connection what its manifest says; nil says that it is not known.
func (p *page) declare(seat int, d *declaration) {
	if d == nil || d.bad {
		return
	}
	p.made[seat].declared = d
	e := &p.list[seat]
	e.Refresh = d.refresh
	e.Streams = append([]evidence.Stream(nil), d.streams...)
}

// manifests reads the manifests of the page. One that is missing or does not
// parse is not known to its connections.
func (p *page) manifests(rows *sql.Rows) error {
	read := make(map[generation]*declaration)
	for rows.Next() {
		var of generation
		var body []byte
		if err := rows.Scan(&of.connectorID, &of.number, &body); err != nil {
			return err
		}
		d := p.known.get(of)
		if d == nil {
			d = readDeclaration(body)
			p.known.put(of, d)
		}
		read[of] = d
	}
	for i := range p.made {
		p.declare(i, read[p.made[i].of])
	}
	return nil
}

func readDeclaration(body []byte) *declaration {
	m, err := manifest.Parse(body)
	if err != nil {
		return &declaration{bad: true}
	}
	d := &declaration{refresh: m.RefreshPolicy(), places: make(map[string]int, len(m.Streams)), keys: make(map[string][]fieldKey, len(m.Streams)),
		profiles: make(map[string]map[string]bool, len(m.Profiles))}
	for i := range m.Streams {
		s := &m.Streams[i]
		d.streams = append(d.streams, evidence.Stream{Name: s.Name, Required: s.IsRequired(), Policy: s.CoveragePolicy, AsTold: s.AsTold})
		d.places[s.Name] = i
		d.keys[s.Name] = indexedKeys(s, m.ExpandedBy(s.Name))
	}
	for _, profile := range m.Profiles {
		collected := make(map[string]bool, len(profile.Streams))
		for _, s := range profile.Streams {
			collected[s.Name] = true
		}
		d.profiles[profile.ID] = collected
	}
	return d
}
