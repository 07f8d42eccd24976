package api

import "time"

// AuditEntry is something that was done. It names things and counts them, and holds
// neither content nor secrets.
type AuditEntry struct {
	ID int64 `json:"entry_id"`
	// At is when the action first happened, and LastAt when it last happened. One entry may combine several similar
	// actions.
	At     time.Time `json:"at"`
	LastAt time.Time `json:"last_at"`
	Kind   string    `json:"kind"`
	Group  string    `json:"group"` // the kinds that are looked for together
	// Outcome is done, refused or failed; Reason is a code.
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"` // a code
	// Sentence describes the entry for people.
	Sentence string     `json:"sentence"`
	Actor    AuditActor `json:"actor"`
	// Object is what it was done to: an id, and a name where there is one.
	Object     string `json:"object,omitempty"`
	ObjectName string `json:"object_name,omitempty"`
	Times      int64  `json:"times"`
	Records    *int64 `json:"records"` // nil where records play no part
}

// AuditActor is who did it. Kind is session, owner_token, grant, command, server or stranger.
type AuditActor struct {
	Kind    string `json:"kind"` // session, owner_token, grant, command, server or stranger
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
}

// AuditQuery picks entries. Empty members pick all.
type AuditQuery struct {
	// Kind is a kind of entry, or a group of kinds: reading, sign_ins, grants, exports, settings.
	Kind   string     `query:"kind"`
	Since  *time.Time `query:"since"`                // what happened then or later
	Before int64      `query:"before"`               // entries older than this one
	Limit  int        `query:"limit" maximum:"1000"` // 100 by default
}

// AuditPage is some of the trail.
type AuditPage struct {
	Entries []AuditEntry `json:"data"`
	// Next is what to ask for as Before to read on; zero at the end.
	Next     int64 `json:"next_before"`
	KeptDays int   `json:"kept_days"`
}
