/** May do everything, everywhere: the administrator, and the server's own controllers. */
export const mastersGroup = 'system:masters';
