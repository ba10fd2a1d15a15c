autoload -Uz compinit; compinit
PROMPT="%~ %# "
