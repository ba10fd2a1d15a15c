if status is-interactive
    set -g fish_greeting
end
