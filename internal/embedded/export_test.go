package embedded

// Guard lets tests reach guard.
var Guard = guard
