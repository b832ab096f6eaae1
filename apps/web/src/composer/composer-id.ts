/** Id of the message field, for what moves the focus there. */
export const COMPOSER_ID = 'composer';
