package routes

// EveryScope visits the addresses that have a scope.
func EveryScope(visit func(pattern string)) {
	for pattern := range scopes {
		visit(pattern)
	}
}
