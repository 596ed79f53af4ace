package plan

// Optimise rewrites a plan into one that means the same and costs less.
func Optimise(r *Root) {}
