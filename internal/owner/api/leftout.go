package api

// LeftOut counts content of files that a source does not collect, of one kind.
type LeftOut struct {
	Kind  string `json:"kind"` // a kind that the source knows, or a pattern of file names
	Count int64  `json:"count"`
	// Known means that Kind is the name of a kind that the source knows. Otherwise Kind is a pattern
	// of file names that this version does not recognize.
	Known bool `json:"known"`
}
