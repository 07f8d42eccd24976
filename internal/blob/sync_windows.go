package blob

// syncDir has nothing to do: the system keeps names with the files.
func syncDir(string) error { return nil }
