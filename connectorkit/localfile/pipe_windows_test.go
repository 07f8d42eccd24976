package localfile_test

// makePipe makes nothing: no folder of this system holds a pipe.
func makePipe(string) error { return nil }
