package childprocess

// processExited does nothing: no descendant can leave the child's job, so the pipe ends with the job.
func (p *outputPipe) processExited() {}

func (p *outputPipe) Read(b []byte) (int, error) { return p.file.Read(b) }
