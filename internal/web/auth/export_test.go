package auth

// Spent counts the challenges that count as answered.
func (d *Auth) Spent() int {
	d.spent.mu.Lock()
	defer d.spent.mu.Unlock()
	return len(d.spent.until)
}
